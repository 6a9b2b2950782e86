// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxViolatingStacks bounds status.violatingStacks of a PolicySet, and
// MaxViolatedPolicies the policies of each.
const (
	MaxViolatingStacks  = 100
	MaxViolatedPolicies = 10
)

// PolicySetStatus says which packs are in use, and which Stacks violate them.
type PolicySetStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// ObservedGeneration is the last generation that was observed.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions of the PolicySet. Ready is True when each pack has an artifact
	// and valid config. It says nothing about violations: see violating.
	// Stalled is present only when true.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Packs are the current versions of the packs. One that has no artifact is
	// left out.
	// +listType=map
	// +listMapKey=name
	// +optional
	Packs []PolicyPackStatus `json:"packs,omitempty"`

	// Digest of the packs with their config. It is empty if one of them cannot be
	// used.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Stacks is the number of Stacks that are selected.
	// +optional
	Stacks int32 `json:"stacks"`

	// Violating is the number of selected Stacks that violate mandatory policies,
	// as far as they have been checked.
	// +optional
	Violating int32 `json:"violating"`

	// Unchecked is the number of selected Stacks that have not been checked with
	// the current packs. What an earlier version of the packs has found in them
	// counts as violating until then.
	// +optional
	Unchecked int32 `json:"unchecked"`

	// ViolatingStacks are the Stacks that violate mandatory policies, by
	// namespace and name, at most 100.
	// +listType=atomic
	// +optional
	ViolatingStacks []ViolatingStack `json:"violatingStacks,omitempty"`
}

// PolicyPackStatus is the current version of a pack.
type PolicyPackStatus struct {
	// Name of the pack.
	// +required
	Name string `json:"name"`

	// Revision of the source.
	// +required
	Revision string `json:"revision"`

	// Digest of the artifact of the source.
	// +required
	Digest string `json:"digest"`
}

// ViolatingStack is a Stack that violates mandatory policies.
type ViolatingStack struct {
	// Namespace of the Stack.
	// +required
	Namespace string `json:"namespace"`

	// Name of the Stack.
	// +required
	Name string `json:"name"`

	// Policies that it violates, as <pack>/<policy>, at most 10.
	// +listType=atomic
	// +optional
	Policies []string `json:"policies,omitempty"`
}
