// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// RunPolicies are the policy packs of a run.
type RunPolicies struct {
	// Digest of the packs, with their config.
	// +required
	Digest string `json:"digest"`

	// Checks is the digest that the run writes to status.policies.digest. It is
	// empty if the run is no check of the whole Stack: because PolicySets with
	// enforcement Warn select it too, or the run is limited to some resources.
	// +optional
	Checks string `json:"checks,omitempty"`

	// Sets are the PolicySets with the packs, by name: at most 64.
	// +listType=map
	// +listMapKey=name
	// +optional
	Sets []RunPolicySet `json:"sets,omitempty"`
}

// RunPolicySet is a PolicySet whose packs a run has.
type RunPolicySet struct {
	// Name of the PolicySet.
	// +required
	Name string `json:"name"`

	// Digest of its packs, as in the status of the PolicySet.
	// +required
	Digest string `json:"digest"`
}
