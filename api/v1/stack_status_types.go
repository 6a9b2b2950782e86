// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"github.com/fluxcd/pkg/apis/meta"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Operation is what a run does.
// +kubebuilder:validation:Enum=update;destroy;recover;preview;outputs;propose;propose-destroy;check-drift;check-policies
type Operation string

const (
	// OperationUpdate applies the program (pulumi up).
	OperationUpdate Operation = "update"
	// OperationDestroy deletes everything that the stack manages, and then the
	// stack itself (pulumi destroy, pulumi stack rm).
	OperationDestroy Operation = "destroy"
	// OperationRecover determines what an interrupted run has left behind, and
	// repairs it: processes, its lock, and the operations that were in flight
	// (pulumi refresh).
	OperationRecover Operation = "recover"
	// OperationPreview reports what an update would do (pulumi preview).
	OperationPreview Operation = "preview"
	// OperationOutputs reads the outputs for the Secret that they are written
	// to (pulumi stack output).
	OperationOutputs Operation = "outputs"
	// OperationPropose proposes an update for approval (pulumi preview). It
	// creates the stack if it is missing.
	OperationPropose Operation = "propose"
	// OperationProposeDestroy proposes the destroy of the stack for approval
	// (pulumi destroy --preview-only).
	OperationProposeDestroy Operation = "propose-destroy"
	// OperationCheckDrift finds out what was changed outside of Pulumi (pulumi
	// refresh --preview-only).
	OperationCheckDrift Operation = "check-drift"
	// OperationCheckPolicies finds out which policies of the PolicySets that
	// select the Stack are violated (pulumi preview).
	OperationCheckPolicies Operation = "check-policies"
)

// RunStatus records a run from before it starts until its result is in the
// status of the Stack. After a controller dies at any moment, the record says
// what it may have been doing.
type RunStatus struct {
	// ID of the run.
	// +required
	ID string `json:"id"`

	// Operation of the run.
	// +required
	Operation Operation `json:"operation"`

	// Generation of the Stack that the run was started for.
	// +required
	Generation int64 `json:"generation"`

	// Revision of the program.
	// +optional
	Revision string `json:"revision,omitempty"`

	// OriginRevision of the program, if its source reports one: the git commit
	// that an OCI artifact was made from.
	// +optional
	OriginRevision string `json:"originRevision,omitempty"`

	// Digest of all inputs of the run.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Approved is the digest of the plan that the run applies, if that was
	// proposed. The run changes nothing unless its own plan has the same digest.
	// +optional
	Approved string `json:"approved,omitempty"`

	// ReconcileRequest is the reconcile request that this run answers.
	// +optional
	ReconcileRequest string `json:"reconcileRequest,omitempty"`

	// StartedAt is when the run was recorded.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// Job is the name of the Job of the run, and of the Secret with its result,
	// if runs are Jobs. The Job continues when the controller that recorded it
	// ends.
	// +optional
	Job string `json:"job,omitempty"`

	// Holder is the controller process that has the run, or, if a Job has it,
	// that recorded it.
	// +required
	Holder RunHolder `json:"holder"`

	// PreviewRequest is the value of the annotation
	// pulumi.com/preview-requested-at that the run answers. Such a run does not
	// count as a reconcile of the Stack.
	// +optional
	PreviewRequest string `json:"previewRequest,omitempty"`

	// CheckRequest is the value of the annotation pulumi.com/check-drift that a
	// check for drift answers.
	// +optional
	CheckRequest string `json:"checkRequest,omitempty"`

	// Drift is the digest of the drift that the run corrects, or proposes to
	// correct. It refreshes, and is limited to status.drift.targets. Such a
	// proposal does not count as a reconcile of the Stack.
	// +optional
	Drift string `json:"drift,omitempty"`

	// Incomparable is why the plan of a preview cannot be approved by its digest
	// at another Stack: it is not the digest that the same change has there.
	// +optional
	Incomparable string `json:"incomparable,omitempty"`

	// AfterRun is the run of the Stack in spec.previewOf that had changed
	// something last when the preview started.
	// +optional
	AfterRun string `json:"afterRun,omitempty"`

	// Policies are the policy packs that the run has. It is absent if it has
	// none.
	// +optional
	Policies *RunPolicies `json:"policies,omitempty"`

	// Progress is the last reported progress of the run. It is absent for a run
	// of less than ten seconds, for a preview on request, and while the
	// conditions report something else about the run, such as that it is being
	// cancelled.
	// +optional
	Progress *RunProgress `json:"progress,omitempty"`

	// Cancel is set if a person has asked to end the run: Gently, to finish the
	// operations in flight, or Now.
	// +optional
	Cancel CancelMode `json:"cancel,omitempty"`

	// Emptied is set once a destroy has deleted every resource and removes the
	// stack, so that a missing stack is gone and not lost.
	// +optional
	Emptied bool `json:"emptied,omitempty"`

	// ProjectInfo is what is known of the project before the run starts, and
	// the backend that the run is to use. The project of a source is only found
	// during the run.
	// +optional
	ProjectInfo *ProjectInfo `json:"projectInfo,omitempty"`
}

// RunProgress is the progress of a run at a point in time.
type RunProgress struct {
	// Message describes the progress, for example "3 created, 2 in progress",
	// or what the run waited for.
	// +required
	Message string `json:"message"`

	// WaitingFor is what the run waited for, without details that may change
	// during the wait, such as the message of a scheduler. Empty for a run that was
	// at work.
	// +optional
	WaitingFor string `json:"waitingFor,omitempty"`

	// LastUpdateTime is when the progress was reported.
	// +required
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`
}

// RunHolder distinguishes one controller process from all others, so that its
// death can be proven.
type RunHolder struct {
	// Host is the host name of the process: the name of its pod.
	// +required
	Host string `json:"host"`

	// Instance distinguishes the process from all others that the host has had:
	// the boot of the machine, the process ID and start time, the PID namespace
	// of the ID, and the file that the process has locked, as
	// <boot>/<pid>/<start>/<namespace>/<device>:<inode>.
	// +required
	Instance string `json:"instance"`

	// PodUID is the UID of the pod that the process runs in, if that pod has
	// its own network: the name of a pod may be reused. Without it, a process
	// on another host is never considered gone.
	// +optional
	PodUID types.UID `json:"podUID,omitempty"`

	// PodNamespace is the namespace of that pod. A controller only reads
	// the pods of its own namespace: without this field, or in another
	// namespace, the pod proves nothing.
	// +optional
	PodNamespace string `json:"podNamespace,omitempty"`
}

// InterruptedRun is a run that was killed, or whose end was not observed.
type InterruptedRun struct {
	// ID of the run.
	// +required
	ID string `json:"id"`

	// Operation of the run.
	// +required
	Operation Operation `json:"operation"`

	// Host that the run was on.
	// +required
	Host string `json:"host"`

	// Instance of the controller process that had the run, as in status.run.
	// Without it and the times, a lock that the run has left can be identified
	// only by the files of the run in the data directory.
	// +optional
	Instance string `json:"instance,omitempty"`

	// StartedAt is when the run was recorded.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// EndedAt is when it was killed, or found to be.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`

	// Backend that the run was to use, without user, password and query. The
	// run may or may not have created the stack there.
	// +optional
	Backend string `json:"backend,omitempty"`

	// Emptied has the meaning of the field in status.run.
	// +optional
	Emptied bool `json:"emptied,omitempty"`

	// Drift has the meaning of the field in status.run. No update follows the
	// recovery from such a run.
	// +optional
	Drift string `json:"drift,omitempty"`

	// Failures is the number of consecutive failed runs, including this one.
	// From the second on, the inputs are not run again at once.
	// +optional
	Failures int64 `json:"failures,omitempty"`
}

// ResourceChanges counts resources by what became of them in a run.
type ResourceChanges struct {
	// Created resources.
	// +optional
	Created int32 `json:"created,omitempty"`
	// Updated resources.
	// +optional
	Updated int32 `json:"updated,omitempty"`
	// Deleted resources.
	// +optional
	Deleted int32 `json:"deleted,omitempty"`
	// Replaced resources: those that were created in the place of another. One
	// that was deleted, and could not be created again, is deleted.
	// +optional
	Replaced int32 `json:"replaced,omitempty"`
	// Retained resources are no longer managed by the stack and were left in
	// place because of retainOnDelete, also when they were replaced.
	// +optional
	Retained int32 `json:"retained,omitempty"`
	// Same is the number of resources that the run left unchanged.
	// +optional
	Same int32 `json:"same,omitempty"`
}

// ResourcesStatus counts the resources of the stack, without the stack's own
// entry.
type ResourcesStatus struct {
	// Total is the number of resources that the last run knew.
	Total int32 `json:"total"`

	// ResourceChanges of the last run.
	ResourceChanges `json:",inline"`
}

// UpdateState is how a run ended.
type UpdateState string

const (
	// UpdateSucceeded is a run that completed.
	UpdateSucceeded UpdateState = "succeeded"
	// UpdateFailed is a run that did not.
	UpdateFailed UpdateState = "failed"
)

// UpdateType is an operation in the terms of the Pulumi operator.
type UpdateType string

const (
	// UpdateTypeUp is the operator's term for an update.
	UpdateTypeUp UpdateType = "up"
	// UpdateTypeDestroy is the operator's term for a destroy.
	UpdateTypeDestroy UpdateType = "destroy"
	// UpdateTypeRefresh is the operator's term for what a recovery does.
	UpdateTypeRefresh UpdateType = "refresh"
	// UpdateTypePreview is the operator's term for a preview.
	UpdateTypePreview UpdateType = "preview"
)

// LastRun describes a run that has ended.
type LastRun struct {
	// ID of the run.
	// +required
	ID string `json:"id"`
	// Operation of the run.
	// +required
	Operation Operation `json:"operation"`
	// State is succeeded or failed.
	// +required
	State UpdateState `json:"state"`
	// Generation of the Stack that was run.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// Digest of all inputs of the run, also of a recovery or a destroy, if they
	// were known. After a failure, other inputs are tried at once.
	// +optional
	Digest string `json:"digest,omitempty"`
	// Reason of a failure, as in the Ready condition.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message of a failure, the result of a preview, or the warnings of an
	// update that succeeded. After a recovery, how the interrupted run had
	// failed.
	// +optional
	Message string `json:"message,omitempty"`
	// LastSuccessfulCommit is the git commit of the last update or destroy that
	// succeeded, which may be an earlier run, if its revision names one.
	// +optional
	LastSuccessfulCommit string `json:"lastSuccessfulCommit,omitempty"`
	// UpdateState is how the last update ended, if this run only proposes one,
	// or recovers from an update that was to undo drift.
	// +optional
	UpdateState UpdateState `json:"updateState,omitempty"`
	// Policies is the digest of the policy packs that the run had. After a
	// violation, or a pack that failed, other packs are tried at once.
	// +optional
	Policies string `json:"policies,omitempty"`
	// EndedAt is when the run ended, or was found to have been interrupted.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
}

// LastUpdate describes the last run in the terms of the Pulumi operator, for
// programs that read them.
type LastUpdate struct {
	// Generation of the Stack that was run.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// Digest of all inputs of the run, also of a recovery or a destroy, if they
	// were known. After a failure, other inputs are tried at once.
	// +optional
	Digest string `json:"digest,omitempty"`
	// ReconcileRequest is the last value of the annotation
	// pulumi.com/reconciliation-request that the run was for.
	// +optional
	ReconcileRequest string `json:"reconcileRequest,omitempty"`
	// Name is the ID of the run.
	// +optional
	Name string `json:"name,omitempty"`
	// Type is the operation: up, destroy, refresh or preview.
	// +optional
	Type UpdateType `json:"type,omitempty"`
	// State is succeeded or failed.
	// +optional
	State UpdateState `json:"state,omitempty"`
	// Reason of a failure, as in the Ready condition.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message of a failure, the result of a preview, or the warnings of an
	// update that succeeded. After a recovery, how the interrupted run had
	// failed.
	// +optional
	Message string `json:"message,omitempty"`
	// LastAttemptedCommit is the git commit that was last run, if the revision
	// names one.
	// +optional
	LastAttemptedCommit string `json:"lastAttemptedCommit,omitempty"`
	// LastSuccessfulCommit is the git commit that last succeeded, if the
	// revision names one.
	// +optional
	LastSuccessfulCommit string `json:"lastSuccessfulCommit,omitempty"`
	// Permalink to the update in Pulumi Cloud.
	// +optional
	Permalink string `json:"permalink,omitempty"`
	// LastResyncTime is when the run ended.
	// +optional
	LastResyncTime *metav1.Time `json:"lastResyncTime,omitempty"`
	// Failures is the number of retries of the Pulumi operator. This controller
	// leaves it empty: see status.failures.
	// +optional
	Failures int64 `json:"failures,omitempty"`
}

// CurrentUpdate names the Update object that the Pulumi operator waits for.
type CurrentUpdate struct {
	// Generation of the Stack that the update runs.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// ReconcileRequest that the update is for.
	// +optional
	ReconcileRequest string `json:"reconcileRequest,omitempty"`
	// Name of the Update object.
	// +optional
	Name string `json:"name,omitempty"`
	// Commit that the update runs.
	// +optional
	Commit string `json:"commit,omitempty"`
}

// ProjectInfo is what is known of the project of the stack. With it, the stack
// can be destroyed when its program is gone.
type ProjectInfo struct {
	// Name of the project, empty while it is not known.
	// +optional
	Name string `json:"name"` // never left out: the Pulumi operator's CRD requires it
	// Runtime of the project: yaml, nodejs, and so on.
	// +optional
	Runtime string `json:"runtime"` // neither is this
	// Backend that the stack was last found in, without user, password and
	// query. If a Secret names it, a digest replaces it.
	// +optional
	Backend string `json:"backend,omitempty"`
	// UpdatedElsewhere: another controller, such as the Pulumi operator, has
	// updated the stack, and no run of this controller has found it yet. Until
	// then, the stack is neither created again nor considered destroyed.
	// +optional
	UpdatedElsewhere bool `json:"updatedElsewhere,omitempty"`
	// LockedElsewhere: a run found the stack locked by another user. The holder may
	// have died since and left operations in flight: the next run settles them
	// first, and names creations with an unknown outcome, as the first run
	// does.
	// +optional
	LockedElsewhere bool `json:"lockedElsewhere,omitempty"`
}

// StackStatus is what the controller has observed and done.
type StackStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`
	meta.ForceRequestStatus     `json:",inline"`

	// ObservedReconcileRequest is the last handled value of the annotation
	// pulumi.com/reconciliation-request.
	// +optional
	ObservedReconcileRequest string `json:"observedReconcileRequest,omitempty"`

	// ObservedGeneration is the last generation of the spec that was applied, or
	// found to be impossible to apply.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions of the Stack: Ready, Reconciling, Stalled and, if it is checked
	// for drift, Drifted, and if PolicySets select it, Compliant.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// LastAttemptedRevision is the revision of the program that was last
	// considered: it was run, or needed no run, or a failure prevented the run.
	// +optional
	LastAttemptedRevision string `json:"lastAttemptedRevision,omitempty"`

	// LastAttemptedDigest is the digest of all inputs of the last run that was neither
	// a recovery nor a destroy. It is empty after a destroy. After a proposal, it begins
	// with propose: so that a version that knows no proposals does not take it for applied.
	// +optional
	LastAttemptedDigest string `json:"lastAttemptedDigest,omitempty"`

	// LastAppliedRevision is the revision of the program that was last run
	// successfully.
	// +optional
	LastAppliedRevision string `json:"lastAppliedRevision,omitempty"`

	// LastAppliedOriginRevision is the origin revision that was last run
	// successfully, if the source reports one.
	// +optional
	LastAppliedOriginRevision string `json:"lastAppliedOriginRevision,omitempty"`

	// LastAppliedDigest is the digest of all inputs of the last successful run.
	// +optional
	LastAppliedDigest string `json:"lastAppliedDigest,omitempty"`

	// Run is the run in flight.
	// +optional
	Run *RunStatus `json:"run,omitempty"`

	// RunPending: a requested run has been answered, or recorded, but could not
	// start. It starts as soon as possible.
	// +optional
	RunPending bool `json:"runPending,omitempty"`

	// RefreshPending: a run was forced, and no run that reads the actual state
	// has succeeded since. Each run does so until one succeeds.
	// +optional
	RefreshPending bool `json:"refreshPending,omitempty"`

	// Interrupted are runs that were killed, or whose end was not observed: one
	// run, and the recoveries from it that were interrupted as well. They are
	// recovered before anything else runs.
	// +optional
	Interrupted []InterruptedRun `json:"interrupted,omitempty"`

	// CancelledRun is the last run, if a person has cancelled it. It does not
	// start again before a change of the spec or a reconcile request. An update
	// or a preview also starts with a new revision or another change of its
	// inputs; a destroy or a recovery does not.
	// +optional
	CancelledRun *CancelledRun `json:"cancelledRun,omitempty"`

	// UnknownCreates are the URNs of resources that may or may not have been
	// created. See spec.pendingCreates.
	// +optional
	UnknownCreates []string `json:"unknownCreates,omitempty"`

	// GitRepository is the name of the GitRepository that the controller
	// maintains for spec.projectRepo.
	// +optional
	GitRepository string `json:"gitRepository,omitempty"`

	// Outputs of the stack. A secret output is shown as "[secret]".
	// +optional
	Outputs map[string]apiextensionsv1.JSON `json:"outputs,omitempty"`

	// OutputsSecret describes the Secret that the outputs are written to. See
	// spec.writeOutputsToSecret.
	// +optional
	OutputsSecret *OutputsSecretStatus `json:"outputsSecret,omitempty"`

	// Resources counts what the stack manages and what the last run changed.
	// +optional
	Resources *ResourcesStatus `json:"resources,omitempty"`

	// Inventory locates the list of the resources that the stack manages. It is
	// set from the first run that has reported any.
	// +optional
	Inventory *InventoryStatus `json:"inventory,omitempty"`

	// RunLog locates the log of the last run, if that was a Job. Previews that
	// were requested with the annotation pulumi.com/preview-requested-at do not
	// count.
	// +optional
	RunLog *RunLogStatus `json:"runLog,omitempty"`

	// Preview describes the last preview that was requested with the annotation
	// pulumi.com/preview-requested-at.
	// +optional
	Preview *PreviewStatus `json:"preview,omitempty"`

	// Plan describes what was last proposed for approval. See spec.approval.
	// +optional
	Plan *PlanStatus `json:"plan,omitempty"`

	// Drift describes the last check for drift. See spec.drift.
	// +optional
	Drift *DriftStatus `json:"drift,omitempty"`

	// Policies is the result of the policy packs that guard the Stack. It is
	// absent if no PolicySet selects the Stack.
	// +optional
	Policies *PoliciesStatus `json:"policies,omitempty"`

	// Failures is the number of consecutive runs that have failed or were
	// interrupted. A new revision or a new spec resets it. Runs that a
	// controller stopped when it shut down do not count.
	// +optional
	Failures int64 `json:"failures,omitempty"`

	// History of the last runs, newest first.
	// +optional
	History meta.History `json:"history,omitempty"`

	// ProjectInfo is what is known of the project of the stack.
	// +optional
	ProjectInfo *ProjectInfo `json:"projectInfo,omitempty"`

	// LastRun is the last run that has ended. Previews on request, and runs that
	// only read the outputs, do not count.
	// +optional
	LastRun *LastRun `json:"lastRun,omitempty"`

	// LastUpdate describes the last run in the terms of the Pulumi operator, for
	// programs that read them. The controller itself reads it only if there is no
	// lastRun: the operator wrote it, or an earlier version of the controller.
	// +optional
	LastUpdate *LastUpdate `json:"lastUpdate,omitempty"`

	// CurrentUpdate is the update that the Pulumi operator had in flight. A
	// Stack that has it is not taken over without a run, which removes it. This
	// controller writes its own runs to status.run.
	// +optional
	CurrentUpdate *CurrentUpdate `json:"currentUpdate,omitempty"`
}
