// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// OutputsSecret names the Secret that the outputs of a stack are written to.
type OutputsSecret struct {
	// Name of the Secret, in the namespace of the Stack. It is made by the
	// controller, is owned by the Stack, and goes with it. One that is there
	// already and is not owned by the Stack is never overwritten: the Stack says
	// so, and goes on when it is removed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern="^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
	// +required
	Name string `json:"name"`

	// Keys are the outputs to write. One that the stack does not have is an
	// error. Defaults to all.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	Keys []string `json:"keys,omitempty"`

	// Labels of the Secret.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of the Secret.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}
