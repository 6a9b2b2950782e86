// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// FluxSource names a Flux source object and the directory of the Pulumi program
// in it.
type FluxSource struct {
	// SourceRef names the source object.
	// +required
	SourceRef SourceReference `json:"sourceRef"`

	// Dir is the directory of the Pulumi program, the one that contains
	// Pulumi.yaml, relative to the root of the source. It cannot point outside
	// the source. Defaults to the root.
	// +optional
	Dir string `json:"dir,omitempty"`
}

// SourceReference names a Flux source object.
type SourceReference struct {
	// APIVersion of the source, for example source.toolkit.fluxcd.io/v1. Only
	// its group matters: the controller always reads version v1, whatever
	// version is written here. Defaults to the group source.toolkit.fluxcd.io.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// Kind of the source.
	// +kubebuilder:validation:Enum=GitRepository;OCIRepository;Bucket;ExternalArtifact
	// +required
	Kind string `json:"kind"`

	// Name of the source.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// Namespace of the source. Defaults to the namespace of the Stack. Any
	// other namespace is rejected unless the controller runs with
	// --no-cross-namespace-refs=false.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// ProgramReference names a Program in the namespace of the Stack.
type ProgramReference struct {
	// Name of the Program.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}

// ResourceRefType selects where the value of a ResourceRef comes from.
// +kubebuilder:validation:Enum=Secret;Literal;Env;FS
type ResourceRefType string

const (
	// ResourceRefSecret takes the value from a key of a Secret.
	ResourceRefSecret ResourceRefType = "Secret"
	// ResourceRefLiteral uses the value as it is written.
	ResourceRefLiteral ResourceRefType = "Literal"
	// ResourceRefEnv takes the value from an environment variable of the
	// controller.
	ResourceRefEnv ResourceRefType = "Env"
	// ResourceRefFS takes the value from a file of the controller.
	ResourceRefFS ResourceRefType = "FS"
)

// ResourceRef is a value, or a reference to one.
// +kubebuilder:validation:XValidation:rule="self.type != 'Secret' || has(self.secret)",message="secret is required when type is Secret"
// +kubebuilder:validation:XValidation:rule="self.type != 'Literal' || has(self.literal)",message="literal is required when type is Literal"
// +kubebuilder:validation:XValidation:rule="self.type != 'Env' || has(self.env)",message="env is required when type is Env"
// +kubebuilder:validation:XValidation:rule="self.type != 'FS' || has(self.filesystem)",message="filesystem is required when type is FS"
// +kubebuilder:validation:XValidation:rule="self.type == 'Secret' || !has(self.secret)",message="secret belongs to type Secret: remove it, or change the type"
// +kubebuilder:validation:XValidation:rule="self.type == 'Literal' || !has(self.literal)",message="literal belongs to type Literal: remove it, or change the type"
// +kubebuilder:validation:XValidation:rule="self.type == 'Env' || !has(self.env)",message="env belongs to type Env: remove it, or change the type"
// +kubebuilder:validation:XValidation:rule="self.type == 'FS' || !has(self.filesystem)",message="filesystem belongs to type FS: remove it, or change the type"
type ResourceRef struct {
	// Type selects where the value comes from: Secret, Literal, Env or FS. Env
	// and FS read from the controller itself, and are rejected unless it runs
	// with --allow-controller-refs. A change of what they read does not start a
	// run.
	// +required
	Type ResourceRefType `json:"type"`

	// Secret names a key of a Secret, for type Secret.
	// +optional
	Secret *SecretKeyReference `json:"secret,omitempty"`

	// Literal is the value itself, for type Literal.
	// +optional
	Literal *LiteralValue `json:"literal,omitempty"`

	// Env names an environment variable of the controller, for type Env.
	// +optional
	Env *EnvReference `json:"env,omitempty"`

	// FileSystem names a file of the controller, for type FS.
	// +optional
	FileSystem *FileReference `json:"filesystem,omitempty"`
}

// EnvReference names an environment variable of the controller.
type EnvReference struct {
	// Name of the variable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +required
	Name string `json:"name"`
}

// FileReference names a file of the controller.
type FileReference struct {
	// Path of the file. It must be absolute and lead to a regular file of at
	// most 1 MiB.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="must be absolute: begin it with /"
	// +required
	Path string `json:"path"`
}

// SecretKeyReference names a key of a Secret.
type SecretKeyReference struct {
	// Namespace of the Secret. Defaults to the namespace of the Stack. Any
	// other namespace is rejected unless the controller runs with
	// --no-cross-namespace-refs=false.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// Key in the data of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Key string `json:"key"`
}

// LiteralValue is a value in the object itself.
type LiteralValue struct {
	// Value is used as it is.
	// +required
	Value string `json:"value"`
}

// ConfigMapRef is a config value from a ConfigMap in the namespace of the
// Stack.
type ConfigMapRef struct {
	// Name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// Key in the data of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Key string `json:"key"`

	// JSON parses the value as JSON: a number, a boolean, a list or an object
	// keeps its type. Defaults to false: the value is a string.
	// +optional
	JSON bool `json:"json,omitempty"`
}
