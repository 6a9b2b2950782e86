// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProgramKind is the kind of a Program.
const ProgramKind = "Program"

// ProgramSpec is a program in Pulumi YAML. It never becomes the settings of the
// project: those are written by the controller.
//
// A key that Pulumi YAML does not have is kept, so that the controller can name
// it: a Program with one is not valid, and is not run.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ProgramSpec struct {
	// Description of the program. Nothing comes of it.
	// +optional
	Description string `json:"description,omitempty"`

	// Config declares the config values that the program takes, by name: their
	// type, default and whether they are secret. A name with a colon is one of a
	// provider, such as aws:region, and has a value.
	// +optional
	Config map[string]ConfigurationDeclaration `json:"config,omitempty"`

	// Configuration is what Pulumi YAML called config before. Both can be used, but
	// not with the same name in them.
	// +optional
	Configuration map[string]ConfigurationDeclaration `json:"configuration,omitempty"`

	// Resources declares the resources that the program manages, by logical
	// name.
	// +optional
	Resources map[string]Resource `json:"resources,omitempty"`

	// Variables are named expressions for use elsewhere in the program.
	// +optional
	Variables map[string]Expression `json:"variables,omitempty"`

	// Outputs are the named values that the stack shows when the program has
	// run.
	// +optional
	Outputs map[string]Expression `json:"outputs,omitempty"`

	// Packages names the Pulumi packages that the program uses, with the version
	// of each.
	// +optional
	Packages map[string]string `json:"packages,omitempty"`

	// Pulumi is what the program asks of Pulumi itself.
	// +optional
	Pulumi *PulumiSettings `json:"pulumi,omitempty"`
}

// Expression is any value of Pulumi YAML: text with ${...} in it, a number, a
// list, an object, or a call of a function (fn::...).
type Expression = apiextensionsv1.JSON

// PulumiSettings are what a program asks of Pulumi.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PulumiSettings struct {
	// RequiredVersion is the range of versions of Pulumi that can run the program,
	// such as ">=3.250.0". A run with another version fails.
	// +optional
	RequiredVersion *Expression `json:"requiredVersion,omitempty"`
}

// ConfigurationDeclaration declares one config value of a program.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ConfigurationDeclaration struct {
	// Type of the value: String, Number, Integer, Boolean, Object, or List<...> of
	// one of them, in any case of letters; or array, with items. Without it the
	// type is that of the default.
	// +optional
	Type string `json:"type,omitempty"`

	// Name is the config key that the Stack gives the value under, where that is
	// not the name it has in the program.
	// +optional
	Name string `json:"name,omitempty"`

	// Default is the value where the Stack gives none. Without it the Stack has to
	// give one.
	// +optional
	Default *Expression `json:"default,omitempty"`

	// Value is what the project as a whole has, where the Stack gives none: the
	// same as a default for what the program itself takes, and the one way for a
	// config value of a provider, such as aws:region. Not together with default.
	// +optional
	Value *Expression `json:"value,omitempty"`

	// Secret keeps the value encrypted in the state.
	// +optional
	Secret bool `json:"secret,omitempty"`

	// Items says what an array has in it, where the type is array.
	// +optional
	Items *ConfigurationItems `json:"items,omitempty"`

	// Description of the value. Nothing comes of it.
	// +optional
	Description string `json:"description,omitempty"`
}

// ConfigurationItems says what an array has in it.
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
	// Type is the Pulumi type token of the resource, for instance aws:s3:Bucket.
	// +kubebuilder:validation:MinLength=1
	// +required
	Type string `json:"type"`

	// Name of the resource, where it differs from its logical name.
	// +optional
	Name string `json:"name,omitempty"`

	// DefaultProvider makes this provider resource the one that resources of its
	// package use when they name none.
	// +optional
	DefaultProvider *bool `json:"defaultProvider,omitempty"`

	// Properties are the inputs of the resource: an object, or an expression that
	// is one.
	// +optional
	Properties *Expression `json:"properties,omitempty"`

	// Options say how Pulumi manages the resource.
	// +optional
	Options *ResourceOptions `json:"options,omitempty"`

	// Get reads a resource that exists already in place of managing one.
	// +optional
	Get *ResourceGet `json:"get,omitempty"`
}

// ResourceGet names a resource that exists already.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResourceGet struct {
	// ID of the resource at its provider.
	// +required
	ID Expression `json:"id"`

	// State helps the provider to find the resource, where the ID is not
	// enough.
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
	// Aliases the resource had before: a list of URNs, or of objects with name,
	// type, parent, stack, project and noParent.
	// +optional
	Aliases *Expression `json:"aliases,omitempty"`
	// CustomTimeouts bounds the operations of the provider.
	// +optional
	CustomTimeouts *CustomTimeouts `json:"customTimeouts,omitempty"`
	// DeleteBeforeReplace deletes the old resource before the new one is
	// created.
	// +optional
	DeleteBeforeReplace bool `json:"deleteBeforeReplace,omitempty"`
	// DependsOn lists resources to create first.
	// +optional
	DependsOn *Expression `json:"dependsOn,omitempty"`
	// EnvVarMappings gives the plugin of a provider resource environment variables
	// under other names, by the name that they have.
	// +optional
	EnvVarMappings *Expression `json:"envVarMappings,omitempty"`
	// IgnoreChanges lists properties whose changes are not applied.
	// +optional
	IgnoreChanges []string `json:"ignoreChanges,omitempty"`
	// Import takes over the resource with this ID in place of creating one.
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
	// PluginDownloadURL is where the provider plugin comes from: an https, http,
	// github or gitlab URL.
	// +optional
	PluginDownloadURL string `json:"pluginDownloadURL,omitempty"`
	// ReplaceOnChanges lists properties whose changes replace the resource.
	// +optional
	ReplaceOnChanges []string `json:"replaceOnChanges,omitempty"`
	// ReplacementTrigger is any value; when it changes the resource is replaced.
	// +optional
	ReplacementTrigger *Expression `json:"replacementTrigger,omitempty"`
	// RetainOnDelete leaves the resource where it is when it is removed from the
	// program.
	// +optional
	RetainOnDelete bool `json:"retainOnDelete,omitempty"`
	// ReplaceWith lists resources whose replacement replaces this one.
	// +optional
	ReplaceWith *Expression `json:"replaceWith,omitempty"`
	// DeletedWith names a resource whose deletion deletes this one too.
	// +optional
	DeletedWith *Expression `json:"deletedWith,omitempty"`
	// HideDiffs lists properties whose diffs are not shown.
	// +optional
	HideDiffs []string `json:"hideDiffs,omitempty"`
}

// CustomTimeouts bounds the operations of a provider on one resource. Each is a
// duration such as 5m, or an expression that is one.
//
// +kubebuilder:pruning:PreserveUnknownFields
type CustomTimeouts struct {
	// Create bounds the creation.
	// +optional
	Create *Expression `json:"create,omitempty"`
	// Delete bounds the deletion.
	// +optional
	Delete *Expression `json:"delete,omitempty"`
	// Read bounds the reading of a resource, as a get does.
	// +optional
	Read *Expression `json:"read,omitempty"`
	// Update bounds an update in place.
	// +optional
	Update *Expression `json:"update,omitempty"`
}

// Program is a program in Pulumi YAML kept as a Kubernetes object, for Stacks in
// its namespace to run.
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

	// Program is the program, in Pulumi YAML. One without anything in it is {}.
	// +required
	Program ProgramSpec `json:"program"`

	// Status is what the controller has found.
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
