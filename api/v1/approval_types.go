// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ApprovalRequirement is which changes need an approval.
// +kubebuilder:validation:Enum=Never;Destructive;Always
type ApprovalRequirement string

const (
	// ApprovalNever updates and destroys without an approval.
	ApprovalNever ApprovalRequirement = "Never"
	// ApprovalDestructive needs an approval for a plan that deletes or replaces
	// a resource, and for the destroy of the stack.
	ApprovalDestructive ApprovalRequirement = "Destructive"
	// ApprovalAlways needs an approval for every plan that changes something,
	// and for the destroy of the stack.
	ApprovalAlways ApprovalRequirement = "Always"
)

// Approval controls which changes of the stack a person has to approve.
type Approval struct {
	// Require says what needs an approval. Always: every update that changes
	// something, and the destroy of the stack when the Stack is deleted with
	// destroyOnFinalize. Destructive: an update that deletes or replaces a
	// resource, and the destroy. Never: nothing. What needs an approval is
	// proposed first, in status.plan. Defaults to Never.
	// +optional
	Require ApprovalRequirement `json:"require,omitempty"`

	// Approved approves the plan with this digest, status.plan.digest, and no
	// other. The annotation pulumi.com/approve does the same.
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:XValidation:rule="self.matches('^(sha256:[0-9a-f]{64})?$')",message="must be the digest of a plan, sha256: and 64 hexadecimal digits, as in status.plan.digest"
	// +optional
	Approved string `json:"approved,omitempty"`

	// PreviewNamespaces are other namespaces whose Stacks may name this one in
	// spec.previewOf. The digests of their plans are those of this Stack, so
	// that their programs could read the key of the digests, and with it guess
	// secret values from digests. Defaults to none: only Stacks of the same
	// namespace may.
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))",message="must be names of namespaces: lower-case letters, digits and hyphens, with a letter or digit at both ends"
	// +optional
	PreviewNamespaces []string `json:"previewNamespaces,omitempty"`
}

// ApproveAnnotation approves the plan whose digest is its value,
// status.plan.digest, and no other, as spec.approval.approved does.
const ApproveAnnotation = "pulumi.com/approve"

// ApprovedByAnnotation names who has set the annotation pulumi.com/approve, or
// pulumi.com/reject. Only an admission policy, such as that of
// config/approvals, makes sure that it is true.
const ApprovedByAnnotation = "pulumi.com/approved-by"

// RejectAnnotation rejects the plan whose digest is its value. It is not applied
// as long as the annotation is there, even if it is approved as well.
const RejectAnnotation = "pulumi.com/reject"

// RejectReasonAnnotation says why the plan was rejected.
const RejectReasonAnnotation = "pulumi.com/reject-reason"

// PlanState is what has become of a plan.
// +kubebuilder:validation:Enum=Proposed;Approved;Rejected;Applied;Previewed
type PlanState string

const (
	// PlanProposed is a plan that waits for an approval.
	PlanProposed PlanState = "Proposed"
	// PlanApproved is a plan that was approved, or needs no approval, and is
	// applied next, or was applied in part.
	PlanApproved PlanState = "Approved"
	// PlanRejected is a plan that a person has rejected.
	PlanRejected PlanState = "Rejected"
	// PlanApplied is a plan that was applied.
	PlanApplied PlanState = "Applied"
	// PlanPreviewed is a plan that this Stack only previews, with spec.preview.
	// It cannot be approved here, but by its digest at the Stack in
	// spec.previewOf, unless the message says otherwise.
	PlanPreviewed PlanState = "Previewed"
)

// PlanStatus describes what is, or was last, proposed for approval: what an
// update, or the destroy of the stack, would do.
type PlanStatus struct {
	// Digest of what would be done: the steps with the values that change, the
	// outputs that change, the inputs except for the program, the state of the
	// stack, and the versions of Pulumi and its plugins. The same change has the
	// same digest at another revision.
	// +required
	Digest string `json:"digest"`

	// Operation is update or destroy.
	// +required
	Operation Operation `json:"operation"`

	// Drift is the digest of the drift that the plan corrects, status.drift.digest.
	// The update refreshes, and is limited to the resources that have drifted.
	// +optional
	Drift string `json:"drift,omitempty"`

	// State is Proposed, Approved, Rejected, Applied, or Previewed if the Stack
	// only previews.
	// +required
	State PlanState `json:"state"`

	// Run is the ID of the run that has made the plan first.
	// +required
	Run string `json:"run"`

	// Revision of the program that was last planned with this digest.
	// +optional
	Revision string `json:"revision,omitempty"`

	// OriginRevision of the program, if its source reports one.
	// +optional
	OriginRevision string `json:"originRevision,omitempty"`

	// ProposedAt is when the plan was made first.
	// +required
	ProposedAt metav1.Time `json:"proposedAt"`

	// CheckedAt is when the plan was last made with the same digest. While it
	// waits, that is at each interval.
	// +optional
	CheckedAt *metav1.Time `json:"checkedAt,omitempty"`

	// ApprovedAt is when the run that applies the approved plan was recorded.
	// +optional
	ApprovedAt *metav1.Time `json:"approvedAt,omitempty"`

	// ApprovedBy is who has approved or rejected the plan: the annotation
	// pulumi.com/approved-by, or what the approval was if that names nobody.
	// +optional
	ApprovedBy string `json:"approvedBy,omitempty"`

	// Message says why the plan was rejected, why an approval that was given
	// does not count, or why none is needed. If the plan is Previewed, it says
	// why its digest cannot be approved.
	// +optional
	Message string `json:"message,omitempty"`

	// LastApplied is the digest of the plan that was applied last before this one
	// was proposed.
	// +optional
	LastApplied string `json:"lastApplied,omitempty"`

	// Difference says what is different from the plan that this one has
	// replaced.
	// +optional
	Difference string `json:"difference,omitempty"`

	// Unbound is why Pulumi cannot be held to the plan, if it cannot: the plan is
	// made again and compared right before the update, which then is not checked
	// against it.
	// +optional
	Unbound string `json:"unbound,omitempty"`

	// Destructive is set if a resource is deleted or replaced, or the stack
	// destroyed.
	// +optional
	Destructive bool `json:"destructive,omitempty"`

	// NoChanges is set if neither a resource, nor one of its options, nor an
	// output would change. Such a plan needs no approval.
	// +optional
	NoChanges bool `json:"noChanges,omitempty"`

	// ResourceChanges that would be made.
	ResourceChanges `json:",inline"`

	// OptionChanges is the number of resources of which only options would
	// change, such as protect or retainOnDelete.
	// +optional
	OptionChanges int32 `json:"optionChanges,omitempty"`

	// AfterRun is the run of the Stack in spec.previewOf that had changed
	// something last when the plan was previewed. After another one, it is
	// previewed again.
	// +optional
	AfterRun string `json:"afterRun,omitempty"`

	// ConfigMap is the name of a ConfigMap that the Stack owns, with the whole
	// plan.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`

	// ContentDigest is the digest of the content of the ConfigMap, as
	// sha256:<checksum>.
	// +optional
	ContentDigest string `json:"contentDigest,omitempty"`
}
