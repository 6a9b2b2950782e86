// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProgramKind is the kind of a Program.
const ProgramKind = "Program"

// ProgramSpec is a program in Pulumi YAML. It never contains the settings of
// the project: the controller writes those.
//
// A key that Pulumi YAML does not know is kept, so that the controller can name
// it: a Program with such a key is invalid and is not run.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ProgramSpec struct {
	// Description of the program. It has no effect.
	// +optional
	Description string `json:"description,omitempty"`

	// Config declares the config values of the program, by name: their type,
	// default and whether they are secret. A name with a colon, such as
	// aws:region, belongs to a provider and has a value.
	// +optional
	Config map[string]ConfigurationDeclaration `json:"config,omitempty"`

	// Configuration is the former name of config in Pulumi YAML. Both can be
	// used, but not with the same name in them.
	// +optional
	Configuration map[string]ConfigurationDeclaration `json:"configuration,omitempty"`

	// Resources declares the resources that the program manages, by logical
	// name. If it is left out, an update that would delete all resources of a
	// Stack fails. To delete them on purpose, set it to {}.
	// +optional
	Resources map[string]Resource `json:"resources,omitzero"`

	// Variables are named expressions for use elsewhere in the program.
	// +optional
	Variables map[string]Expression `json:"variables,omitempty"`

	// Outputs are the named values that the stack shows after the program has
	// run.
	// +optional
	Outputs map[string]Expression `json:"outputs,omitempty"`

	// Packages are the Pulumi packages that the program uses, with their
	// versions.
	// +optional
	Packages map[string]string `json:"packages,omitempty"`

	// Pulumi are the requirements of the program on Pulumi itself.
	// +optional
	Pulumi *PulumiSettings `json:"pulumi,omitempty"`
}

// Expression is any value of Pulumi YAML: a string with ${...} in it, a number,
// a list, an object, or a function call (fn::...).
type Expression = apiextensionsv1.JSON

// PulumiSettings are the requirements of a program on Pulumi.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PulumiSettings struct {
	// RequiredVersion is the range of Pulumi versions that can run the program,
	// such as ">=3.250.0". A run with another version fails.
	// +optional
	RequiredVersion *Expression `json:"requiredVersion,omitempty"`
}

// ConfigurationDeclaration declares one config value of a program.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ConfigurationDeclaration struct {
	// Type of the value: String, Number, Integer, Boolean, Object, or List<...>
	// of one of them, case-insensitive; or array, with items. Defaults to the
	// type of the default.
	// +optional
	Type string `json:"type,omitempty"`

	// Name is the config key of the value in the Stack, if it differs from the
	// name in the program.
	// +optional
	Name string `json:"name,omitempty"`

	// Default is the value if the Stack gives none. Without a default, the
	// Stack must give one. It cannot be given for a config value of a provider,
	// such as aws:region, which does not get it: use value.
	// +optional
	Default *Expression `json:"default,omitempty"`

	// Value is the value of the whole project if the Stack gives none. For the
	// config of the program itself, it is the same as a default. For a config
	// value of a provider, such as aws:region, it is the only way to set one,
	// and cannot be an expression. It cannot be combined with default.
	// +optional
	Value *Expression `json:"value,omitempty"`

	// Secret keeps the value encrypted in the state.
	// +optional
	Secret bool `json:"secret,omitempty"`

	// Items declares the items of an array, if the type is array.
	// +optional
	Items *ConfigurationItems `json:"items,omitempty"`

	// Description of the value. It has no effect.
	// +optional
	Description string `json:"description,omitempty"`
}

// ConfigurationItems declares the items of an array.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ConfigurationItems struct {
	// Type of each item: String, Number, Integer, Boolean or Object.
	// +kubebuilder:validation:MinLength=1
	// +required
	Type string `json:"type"`
}

// Resource declares one resource of a program.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Resource struct {
	// Type is the Pulumi type token of the resource, for example aws:s3:Bucket.
	// +kubebuilder:validation:MinLength=1
	// +required
	Type string `json:"type"`

	// Name of the resource, if it differs from its logical name.
	// +optional
	Name string `json:"name,omitempty"`

	// DefaultProvider makes this provider resource the default for resources of
	// its package that name no provider.
	// +optional
	DefaultProvider *bool `json:"defaultProvider,omitempty"`

	// Properties are the inputs of the resource: an object, or an expression
	// that evaluates to one.
	// +optional
	Properties *Expression `json:"properties,omitempty"`

	// Options control how Pulumi manages the resource.
	// +optional
	Options *ResourceOptions `json:"options,omitempty"`

	// Get reads an existing resource instead of managing one.
	// +optional
	Get *ResourceGet `json:"get,omitempty"`
}

// ResourceGet names an existing resource.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResourceGet struct {
	// ID of the resource at its provider.
	// +required
	ID Expression `json:"id"`

	// State helps the provider to find the resource if the ID is not
	// sufficient.
	// +optional
	State map[string]Expression `json:"state,omitempty"`
}

// ResourceOptions are the resource options of Pulumi YAML.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResourceOptions struct {
	// AdditionalSecretOutputs names output properties to keep encrypted.
	// +optional
	AdditionalSecretOutputs []string `json:"additionalSecretOutputs,omitempty"`
	// Aliases that the resource had before: a list of URNs, or of objects with
	// name, type, parent, stack, project and noParent.
	// +optional
	Aliases *Expression `json:"aliases,omitempty"`
	// CustomTimeouts limit the operations of the provider.
	// +optional
	CustomTimeouts *CustomTimeouts `json:"customTimeouts,omitempty"`
	// DeleteBeforeReplace deletes the old resource before the new one is
	// created.
	// +optional
	DeleteBeforeReplace bool `json:"deleteBeforeReplace,omitempty"`
	// DependsOn lists resources to create first.
	// +optional
	DependsOn *Expression `json:"dependsOn,omitempty"`
	// EnvVarMappings passes environment variables to the plugin of a provider
	// resource under other names, by their current name.
	// +optional
	EnvVarMappings *Expression `json:"envVarMappings,omitempty"`
	// IgnoreChanges lists properties whose changes are not applied.
	// +optional
	IgnoreChanges []string `json:"ignoreChanges,omitempty"`
	// Import adopts the resource with this ID instead of creating one.
	// +optional
	Import string `json:"import,omitempty"`
	// Parent of the resource.
	// +optional
	Parent *Expression `json:"parent,omitempty"`
	// Protect refuses to delete the resource.
	// +optional
	Protect *Expression `json:"protect,omitempty"`
	// Provider that manages the resource.
	// +optional
	Provider *Expression `json:"provider,omitempty"`
	// Providers for the children of the resource: a list, or an object by package.
	// +optional
	Providers *Expression `json:"providers,omitempty"`
	// Version of the provider plugin.
	// +optional
	Version string `json:"version,omitempty"`
	// PluginDownloadURL is the download URL of the provider plugin: an https,
	// http, github or gitlab URL.
	// +optional
	PluginDownloadURL string `json:"pluginDownloadURL,omitempty"`
	// ReplaceOnChanges lists properties whose changes replace the resource.
	// +optional
	ReplaceOnChanges []string `json:"replaceOnChanges,omitempty"`
	// ReplacementTrigger is any value. When it changes, the resource is
	// replaced.
	// +optional
	ReplacementTrigger *Expression `json:"replacementTrigger,omitempty"`
	// RetainOnDelete keeps the resource at its provider when it is removed from
	// the program.
	// +optional
	RetainOnDelete bool `json:"retainOnDelete,omitempty"`
	// ReplaceWith lists resources whose replacement replaces this one.
	// +optional
	ReplaceWith *Expression `json:"replaceWith,omitempty"`
	// DeletedWith names a resource whose deletion deletes this one too.
	// +optional
	DeletedWith *Expression `json:"deletedWith,omitempty"`
	// HideDiffs lists properties whose diffs are hidden.
	// +optional
	HideDiffs []string `json:"hideDiffs,omitempty"`
}

// CustomTimeouts limit the operations of a provider on one resource. Each is a
// duration such as 5m, or an expression that evaluates to one.
//
// +kubebuilder:pruning:PreserveUnknownFields
type CustomTimeouts struct {
	// Create limits the creation.
	// +optional
	Create *Expression `json:"create,omitempty"`
	// Delete limits the deletion.
	// +optional
	Delete *Expression `json:"delete,omitempty"`
	// Read limits the reading of a resource, as in a get.
	// +optional
	Read *Expression `json:"read,omitempty"`
	// Update limits an update in place.
	// +optional
	Update *Expression `json:"update,omitempty"`
}

// Program is a Pulumi YAML program in a Kubernetes object, for Stacks in its
// namespace to run.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:categories=all;fluxcd
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description=""
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message",description=""
type Program struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Program is the program, in Pulumi YAML. An empty program is {}.
	// +required
	Program ProgramSpec `json:"program"`

	// Status is what the controller has observed.
	// +kubebuilder:default:={"observedGeneration":-1}
	Status ProgramStatus `json:"status,omitempty"`
}

// ProgramList is a list of Programs.
//
// +kubebuilder:object:root=true
type ProgramList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Program `json:"items"`
}
