// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaxPolicySets bounds status.policies.sets of a Stack, and MaxViolations
// status.policies.violations.
const (
	MaxPolicySets = 64
	MaxViolations = 50
)

// PoliciesStatus is the result of the policy packs that guard a Stack.
type PoliciesStatus struct {
	// Digest of the packs, and of the inputs of the Stack, that were last
	// checked.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Sets are the PolicySets that select the Stack, by name, with the result of
	// the last check: at most 64.
	// +listType=map
	// +listMapKey=name
	// +optional
	Sets []PolicySetResult `json:"sets,omitempty"`

	// Violations of policies, those of mandatory policies first: at most 50.
	// +listType=atomic
	// +optional
	Violations []PolicyViolation `json:"violations,omitempty"`

	// Mandatory is the number of violations of mandatory policies.
	// +optional
	Mandatory int32 `json:"mandatory,omitempty"`

	// Advisory is the number of violations of advisory policies.
	// +optional
	Advisory int32 `json:"advisory,omitempty"`

	// CheckedAt is when the last check ended: a run for this purpose, or an update
	// with all packs.
	// +optional
	CheckedAt *metav1.Time `json:"checkedAt,omitempty"`

	// Message says why the last check has failed.
	// +optional
	Message string `json:"message,omitempty"`

	// Failures is the number of checks in a row that have failed.
	// +optional
	Failures int64 `json:"failures,omitempty"`
}

// PolicySetResult is the result of one PolicySet for a Stack.
type PolicySetResult struct {
	// Name of the PolicySet.
	// +required
	Name string `json:"name"`

	// Digest of its packs in the last check, as in the status of the PolicySet.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Mandatory is the number of violations of its mandatory policies.
	// +optional
	Mandatory int32 `json:"mandatory,omitempty"`

	// Advisory is the number of violations of its advisory policies.
	// +optional
	Advisory int32 `json:"advisory,omitempty"`
}

// PolicyViolation is a violation of a policy by a resource, or by the stack as
// a whole.
type PolicyViolation struct {
	// PolicySet that has the pack.
	// +required
	PolicySet string `json:"policySet"`

	// Pack is the name of the pack in the PolicySet.
	// +required
	Pack string `json:"pack"`

	// Policy is the name of the policy in the pack.
	// +required
	Policy string `json:"policy"`

	// Level of the policy: mandatory or advisory.
	// +required
	Level string `json:"level"`

	// Resource is the URN of the resource. It is empty for a policy on the stack
	// as a whole.
	// +optional
	Resource string `json:"resource,omitempty"`

	// Message of the policy.
	// +optional
	Message string `json:"message,omitempty"`
}

// CompliantCondition says whether the resources of a Stack comply with the
// policies of the PolicySets that select it. Without a PolicySet, there is no
// such condition.
const CompliantCondition = "Compliant"

// Reasons of the condition Compliant. PolicyViolation and PolicyPackFailed are
// also reasons of Ready.
const (
	// PoliciesPassedReason: no mandatory policy is violated.
	PoliciesPassedReason = "PoliciesPassed"

	// PolicyViolationReason: mandatory policies are violated. Ready has this
	// reason if a run has failed for them: nothing that violates them was
	// changed.
	PolicyViolationReason = "PolicyViolation"

	// PolicyCheckFailedReason: the check has failed, so that it is not known
	// whether policies are violated. The controller retries.
	PolicyCheckFailedReason = "PolicyCheckFailed"

	// PolicyPackFailedReason: a pack of a PolicySet that enforces it could not be
	// fetched, verified, configured or started, or has died. Nothing was
	// changed, unless the message says that what was done by then stays. The
	// controller retries.
	PolicyPackFailedReason = "PolicyPackFailed"
)
