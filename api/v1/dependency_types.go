// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DependencyReference names a Stack that must be ready first.
type DependencyReference struct {
	// Name of the Stack.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// Namespace of the Stack. Defaults to the namespace of the Stack that has
	// the reference. Any other namespace is rejected unless the controller runs
	// with --no-cross-namespace-refs=false.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// ReadyExpr is a CEL expression that determines whether the Stack is ready.
	// It must return a boolean and has two variables: dep is the named Stack,
	// and self is the Stack that has the reference. It replaces the built-in
	// check, unless the controller runs with the feature gate
	// AdditiveCELDependencyCheck: then both must hold. Defaults to the built-in
	// check.
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	ReadyExpr string `json:"readyExpr,omitempty"`
}

// PrerequisiteReference names a Stack that must have succeeded first.
type PrerequisiteReference struct {
	// Name of the Stack, in the same namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// Requirement is what the Stack must fulfil, besides that its last run
	// succeeded.
	// +optional
	Requirement *PrerequisiteRequirement `json:"requirement,omitempty"`
}

// PrerequisiteRequirement is what a prerequisite must fulfil.
type PrerequisiteRequirement struct {
	// SucceededWithinDuration is the maximum age of the last successful run of
	// the Stack, for example 1h. If that run is older, the Stack runs again
	// first. Less than 10s counts as 10s. Defaults to any age.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,9}([.][0-9]{1,9})?(ms|s)|[0-9]{1,7}([.][0-9]{1,9})?m|[0-9]{1,5}([.][0-9]{1,9})?h){1,8}$')",message="must be a duration such as 30s, 5m or 1h30m, of at most 99999h"
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="must be longer than 0s"
	// +optional
	SucceededWithinDuration *metav1.Duration `json:"succeededWithinDuration,omitempty"`
}

// GetDependsOn returns the dependencies in the form that all Flux objects
// share, without the prerequisites.
func (in *Stack) GetDependsOn() []meta.DependencyReference {
	references := make([]meta.DependencyReference, 0, len(in.Spec.DependsOn))
	for _, d := range in.Spec.DependsOn {
		references = append(references, meta.DependencyReference{Name: d.Name, Namespace: d.Namespace, ReadyExpr: d.ReadyExpr})
	}
	return references
}
