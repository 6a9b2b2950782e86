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
type ProgramSpec struct {
	// Configuration declares the config values that the program takes, by name:
	// their type, default and whether they are secret. Pulumi YAML calls it
	// config as well as configuration.
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
}

// Expression is any value of Pulumi YAML: text with ${...} in it, a number, a
// list, an object, or a call of a function (fn::...).
type Expression = apiextensionsv1.JSON

// ConfigurationDeclaration declares one config value of a program.
type ConfigurationDeclaration struct {
	// Type of the value: String, Number, Boolean, or List<...> of one of them.
	// +optional
	Type string `json:"type,omitempty"`

	// Default is the value where the Stack gives none.
	// +optional
	Default *Expression `json:"default,omitempty"`

	// Secret keeps the value encrypted in the state.
	// +optional
	Secret bool `json:"secret,omitempty"`
}

// Resource declares one resource of a program.
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

	// Properties are the inputs of the resource.
	// +optional
	Properties map[string]Expression `json:"properties,omitempty"`

	// Options say how Pulumi manages the resource.
	// +optional
	Options *ResourceOptions `json:"options,omitempty"`

	// Get reads a resource that exists already in place of managing one.
	// +optional
	Get *ResourceGet `json:"get,omitempty"`
}

// ResourceGet names a resource that exists already.
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
type ResourceOptions struct {
	// AdditionalSecretOutputs names output properties to keep encrypted.
	// +optional
	AdditionalSecretOutputs []string `json:"additionalSecretOutputs,omitempty"`
	// Aliases names the resource had before.
	// +optional
	Aliases []Expression `json:"aliases,omitempty"`
	// CustomTimeouts bounds the operations of the provider.
	// +optional
	CustomTimeouts *CustomTimeouts `json:"customTimeouts,omitempty"`
	// DeleteBeforeReplace deletes the old resource before the new one is
	// created.
	// +optional
	DeleteBeforeReplace bool `json:"deleteBeforeReplace,omitempty"`
	// DependsOn lists resources to create first.
	// +optional
	DependsOn []Expression `json:"dependsOn,omitempty"`
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
	// Providers for the children of the resource, by package.
	// +optional
	Providers *Expression `json:"providers,omitempty"`
	// Version of the provider plugin.
	// +optional
	Version string `json:"version,omitempty"`
	// PluginDownloadURL is where the provider plugin comes from.
	// +optional
	PluginDownloadURL string `json:"pluginDownloadURL,omitempty"`
	// ReplaceOnChanges lists properties whose changes replace the resource.
	// +optional
	ReplaceOnChanges []string `json:"replaceOnChanges,omitempty"`
	// RetainOnDelete leaves the resource where it is when it is removed from the
	// program.
	// +optional
	RetainOnDelete bool `json:"retainOnDelete,omitempty"`
	// ReplaceWith lists resources whose replacement replaces this one.
	// +optional
	ReplaceWith []Expression `json:"replaceWith,omitempty"`
	// DeletedWith names a resource whose deletion deletes this one too.
	// +optional
	DeletedWith *Expression `json:"deletedWith,omitempty"`
	// HideDiffs lists properties whose diffs are not shown.
	// +optional
	HideDiffs []string `json:"hideDiffs,omitempty"`
}

// CustomTimeouts bounds the operations of a provider on one resource. Each is a
// duration such as 5m.
type CustomTimeouts struct {
	// Create bounds the creation.
	// +optional
	Create string `json:"create,omitempty"`
	// Delete bounds the deletion.
	// +optional
	Delete string `json:"delete,omitempty"`
	// Update bounds an update in place.
	// +optional
	Update string `json:"update,omitempty"`
}

// Program is a program in Pulumi YAML kept as a Kubernetes object, for Stacks in
// its namespace to run.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:categories=all;fluxcd
// +kubebuilder:metadata:annotations="kustomize.toolkit.fluxcd.io/substitute=disabled"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
type Program struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Program is the program, in Pulumi YAML.
	// +optional
	Program ProgramSpec `json:"program,omitempty"`
}

// ProgramList is a list of Programs.
//
// +kubebuilder:object:root=true
type ProgramList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Program `json:"items"`
}
