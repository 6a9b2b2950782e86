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
// +kubebuilder:validation:Enum=update;destroy;recover;preview;outputs
type Operation string

const (
	// OperationUpdate makes reality what the program says (pulumi up).
	OperationUpdate Operation = "update"
	// OperationDestroy deletes all that the stack manages, and then the stack
	// itself (pulumi destroy --remove).
	OperationDestroy Operation = "destroy"
	// OperationRecover finds out what an interrupted run has left behind, and
	// heals it: processes, its lock, and the operations that were in flight
	// (pulumi refresh).
	OperationRecover Operation = "recover"
	// OperationPreview finds out what an update would do (pulumi preview).
	OperationPreview Operation = "preview"
	// OperationOutputs reads the outputs, for the Secret that they are written to
	// (pulumi stack output).
	OperationOutputs Operation = "outputs"
)

// RunStatus records a run from before it starts until its result is in the
// status of the Stack. A controller that dies at any moment finds out here what
// it may have been doing.
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

	// OriginRevision of the program, where its source tells one: the git commit
	// an OCI artifact was made from.
	// +optional
	OriginRevision string `json:"originRevision,omitempty"`

	// Digest of all inputs of the run.
	// +optional
	Digest string `json:"digest,omitempty"`

	// ReconcileRequest is the reconcile request that this run answers.
	// +optional
	ReconcileRequest string `json:"reconcileRequest,omitempty"`

	// StartedAt is when the run was recorded.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// Job is the name of the Job that does the run, and of the Secret that it tells its
	// result in, where runs are Jobs. It goes on when the controller that has recorded
	// it ends.
	// +optional
	Job string `json:"job,omitempty"`

	// Holder is the controller process that has the run, or that has recorded it, where
	// a Job has it.
	// +required
	Holder RunHolder `json:"holder"`

	// PreviewRequest is the value of the annotation pulumi.com/preview-requested-at
	// that the run answers. Such a run counts as no reconcile of the Stack.
	// +optional
	PreviewRequest string `json:"previewRequest,omitempty"`

	// Progress is how far the run had come when it was last told of. A run that takes
	// less than ten seconds is not, and neither is a preview on request. It is not
	// there while the conditions tell something else of the run, such as that it is
	// cancelled.
	// +optional
	Progress *RunProgress `json:"progress,omitempty"`

	// Cancel says that a person has asked for the end of the run, and how: Gently, so
	// that what is in flight is finished, or Now.
	// +optional
	Cancel CancelMode `json:"cancel,omitempty"`

	// ProjectInfo is what is known of the project before the run starts, and the
	// backend that it is to use. That a source brings its project is found out in
	// the run.
	// +optional
	ProjectInfo *ProjectInfo `json:"projectInfo,omitempty"`
}

// RunProgress is how far a run had come at a time.
type RunProgress struct {
	// Message tells how far that was, as "3 created, 2 in progress", or what the run
	// waited for.
	// +required
	Message string `json:"message"`

	// WaitingFor is what the run waited for, without what may change while it did, such
	// as the words of a scheduler. Empty for a run that was at work.
	// +optional
	WaitingFor string `json:"waitingFor,omitempty"`

	// LastUpdateTime is when this was told.
	// +required
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`
}

// RunHolder tells one controller process from every other, so that its death
// can be proven.
type RunHolder struct {
	// Host is the host name of the process: the name of its pod.
	// +required
	Host string `json:"host"`

	// Instance tells the process from all others that the host has had: the boot
	// of the machine, the number of the process and the time it was started, the
	// PID namespace that the number is of, and the file that it has locked, as
	// <boot>/<pid>/<start>/<namespace>/<device>:<inode>.
	// +required
	Instance string `json:"instance"`

	// PodUID is the UID of the pod that the process runs in, where it runs in
	// one of its own network: the name of a pod may be used again. Without it a
	// process on another host is never taken for gone.
	// +optional
	PodUID types.UID `json:"podUID,omitempty"`
}

// InterruptedRun is a run that was ended by force, or whose end nobody has
// seen.
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

	// Instance of the controller process that had the run, as in status.run. Without
	// it, and the times, a lock that the run has left is known only by the files of
	// the run in the data directory.
	// +optional
	Instance string `json:"instance,omitempty"`

	// StartedAt is when the run was recorded.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// EndedAt is when it was ended by force, or found to be.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`

	// Backend that the run was to use, without user, password and query. It may
	// or may not have made the stack there.
	// +optional
	Backend string `json:"backend,omitempty"`

	// Failures is how many runs had failed one after the other with this one.
	// From the second on, the inputs are not run again at once.
	// +optional
	Failures int64 `json:"failures,omitempty"`
}

// ResourceChanges counts resources by what a run did to them.
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
	// Replaced resources.
	// +optional
	Replaced int32 `json:"replaced,omitempty"`
	// Same is how many the run left as they were.
	// +optional
	Same int32 `json:"same,omitempty"`
}

// ResourcesStatus counts the resources of the stack, the stack's own entry
// left out.
type ResourcesStatus struct {
	// Total is how many resources the last run knew.
	Total int32 `json:"total"`

	// ResourceChanges of the last run.
	ResourceChanges `json:",inline"`
}

// UpdateState is how a run ended.
type UpdateState string

const (
	// UpdateSucceeded is a run that did all it was to do.
	UpdateSucceeded UpdateState = "succeeded"
	// UpdateFailed is a run that did not.
	UpdateFailed UpdateState = "failed"
)

// UpdateType is an operation in the Pulumi operator's words.
type UpdateType string

const (
	// UpdateTypeUp is the operator's word for an update.
	UpdateTypeUp UpdateType = "up"
	// UpdateTypeDestroy is the operator's word for a destroy.
	UpdateTypeDestroy UpdateType = "destroy"
	// UpdateTypeRefresh is the operator's word for what a recovery does.
	UpdateTypeRefresh UpdateType = "refresh"
	// UpdateTypePreview is the operator's word for a preview.
	UpdateTypePreview UpdateType = "preview"
)

// LastUpdate tells of the last run in the Pulumi operator's words, for what
// reads them.
type LastUpdate struct {
	// Generation of the Stack that was run.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// Digest of all inputs of the run, also of a recovery or a destroy, where these
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
	// Message of a failure, or what a preview has found.
	// +optional
	Message string `json:"message,omitempty"`
	// LastAttemptedCommit is the git commit that was last run, where the
	// revision names one.
	// +optional
	LastAttemptedCommit string `json:"lastAttemptedCommit,omitempty"`
	// LastSuccessfulCommit is the git commit that last succeeded, where the
	// revision names one.
	// +optional
	LastSuccessfulCommit string `json:"lastSuccessfulCommit,omitempty"`
	// Permalink to the update in Pulumi Cloud.
	// +optional
	Permalink string `json:"permalink,omitempty"`
	// LastResyncTime is when the run ended.
	// +optional
	LastResyncTime *metav1.Time `json:"lastResyncTime,omitempty"`
	// Failures is how many times the Pulumi operator has tried again. This
	// controller leaves it empty: see status.failures.
	// +optional
	Failures int64 `json:"failures,omitempty"`
}

// CurrentUpdate names the Update object that the Pulumi operator waits for.
type CurrentUpdate struct {
	// Generation of the Stack that is run.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// ReconcileRequest that the update is for.
	// +optional
	ReconcileRequest string `json:"reconcileRequest,omitempty"`
	// Name of the Update object.
	// +optional
	Name string `json:"name,omitempty"`
	// Commit that is run.
	// +optional
	Commit string `json:"commit,omitempty"`
}

// ProjectInfo is what is known of the project of the stack. With it the stack
// can be destroyed when its program is gone.
type ProjectInfo struct {
	// Name of the project, empty while it is not known.
	// +optional
	Name string `json:"name"` // never left out: the Pulumi operator's CRD requires it
	// Runtime of the project: yaml, nodejs, and so on.
	// +optional
	Runtime string `json:"runtime"` // neither is this
	// Backend that the stack was last found in, without user, password and query.
	// Where a Secret names it, a digest stands for it.
	// +optional
	Backend string `json:"backend,omitempty"`
	// UpdatedElsewhere: another controller, such as the Pulumi operator, has updated
	// the stack, and no run of this one has found it yet. Until one has, the stack is
	// not made anew, and not taken for destroyed.
	// +optional
	UpdatedElsewhere bool `json:"updatedElsewhere,omitempty"`
	// LockedElsewhere: a run has met the lock of somebody else. Whoever had it may have
	// died since, and left operations in flight: the next run settles them before it
	// does anything, and names creations of unknown outcome, as the first run does.
	// +optional
	LockedElsewhere bool `json:"lockedElsewhere,omitempty"`
}

// StackStatus is what the controller has seen and done.
type StackStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`
	meta.ForceRequestStatus     `json:",inline"`

	// ObservedReconcileRequest is the last value of the annotation
	// pulumi.com/reconciliation-request that was acted on.
	// +optional
	ObservedReconcileRequest string `json:"observedReconcileRequest,omitempty"`

	// ObservedGeneration is the last generation of the spec that was applied, or
	// found to be impossible to apply.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions of the Stack: Ready, Reconciling and Stalled.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// LastAttemptedRevision is the revision of the program that was last looked at:
	// run, or found to need no run, or kept from one by a failure.
	// +optional
	LastAttemptedRevision string `json:"lastAttemptedRevision,omitempty"`

	// LastAttemptedDigest is the digest of all inputs of the last run that was neither
	// a recovery nor a destroy. It is empty after a destroy.
	// +optional
	LastAttemptedDigest string `json:"lastAttemptedDigest,omitempty"`

	// LastAppliedRevision is the revision of the program that was last run with
	// success.
	// +optional
	LastAppliedRevision string `json:"lastAppliedRevision,omitempty"`

	// LastAppliedOriginRevision is the origin revision that was last run with
	// success, where the source tells one.
	// +optional
	LastAppliedOriginRevision string `json:"lastAppliedOriginRevision,omitempty"`

	// LastAppliedDigest is the digest of all inputs of the last run that
	// succeeded. Nothing is run while the inputs have this digest.
	// +optional
	LastAppliedDigest string `json:"lastAppliedDigest,omitempty"`

	// Run is the run in flight.
	// +optional
	Run *RunStatus `json:"run,omitempty"`

	// RunPending: a run that was asked for has been answered, or recorded, and
	// could not begin. It begins as soon as that is possible.
	// +optional
	RunPending bool `json:"runPending,omitempty"`

	// RefreshPending: a run was forced, and none that read what really exists has
	// succeeded since. Each run does so until one has.
	// +optional
	RefreshPending bool `json:"refreshPending,omitempty"`

	// Interrupted are runs that were ended by force, or whose end nobody has
	// seen: one, and the recoveries from it that were interrupted in their turn.
	// They are recovered from before anything else is run.
	// +optional
	Interrupted []InterruptedRun `json:"interrupted,omitempty"`

	// CancelledRun is the last run, where a person has cancelled it. It is not begun
	// again before a new revision, another change of its inputs or of the spec, or a
	// reconcile request.
	// +optional
	CancelledRun *CancelledRun `json:"cancelledRun,omitempty"`

	// UnknownCreates are the URNs of resources of which nobody knows whether they
	// were created. See spec.pendingCreates.
	// +optional
	UnknownCreates []string `json:"unknownCreates,omitempty"`

	// GitRepository is the name of the GitRepository of source-controller that is
	// kept for spec.projectRepo.
	// +optional
	GitRepository string `json:"gitRepository,omitempty"`

	// Outputs of the stack. A secret one shows as "[secret]".
	// +optional
	Outputs map[string]apiextensionsv1.JSON `json:"outputs,omitempty"`

	// OutputsSecret tells of the Secret that the outputs are written to. See
	// spec.writeOutputsToSecret.
	// +optional
	OutputsSecret *OutputsSecretStatus `json:"outputsSecret,omitempty"`

	// Resources counts what the stack manages and what the last run changed.
	// +optional
	Resources *ResourcesStatus `json:"resources,omitempty"`

	// Inventory tells where the list of the resources is that the stack manages, since
	// the first run that has told of any.
	// +optional
	Inventory *InventoryStatus `json:"inventory,omitempty"`

	// Preview tells of the last preview that somebody has asked for by the annotation
	// pulumi.com/preview-requested-at.
	// +optional
	Preview *PreviewStatus `json:"preview,omitempty"`

	// Failures is how many runs have failed, or were interrupted, one after the
	// other. A new revision or a new spec starts it anew. The end of a controller,
	// when it had its runs stop, is no failure.
	// +optional
	Failures int64 `json:"failures,omitempty"`

	// History of the last runs, newest first.
	// +optional
	History meta.History `json:"history,omitempty"`

	// ProjectInfo is what is known of the project of the stack.
	// +optional
	ProjectInfo *ProjectInfo `json:"projectInfo,omitempty"`

	// LastUpdate tells of the last run in the Pulumi operator's words.
	// +optional
	LastUpdate *LastUpdate `json:"lastUpdate,omitempty"`

	// CurrentUpdate is the update that the Pulumi operator had in flight. A Stack
	// that has it is not taken over without a run, and has it no more from then on.
	// This controller writes its own runs to status.run.
	// +optional
	CurrentUpdate *CurrentUpdate `json:"currentUpdate,omitempty"`
}
