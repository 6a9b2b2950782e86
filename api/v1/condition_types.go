// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Reasons of the Ready condition that Flux has no word for. The others are
// those of github.com/fluxcd/pkg/apis/meta: Progressing,
// ReconciliationSucceeded, ArtifactFailed, and so on.
const (
	// UpdateFailedReason: Pulumi ran an update and it failed. What it created
	// before the failure is in the state of the stack.
	UpdateFailedReason = "UpdateFailed"

	// DestroyFailedReason: Pulumi ran a destroy, and it failed. The Stack is
	// kept and the destroy is retried.
	DestroyFailedReason = "DestroyFailed"

	// RefreshFailedReason: the refresh found changes, and
	// spec.expectNoRefreshChanges forbids them. Nothing was changed.
	RefreshFailedReason = "RefreshFailed"

	// PreviewFailedReason: Pulumi ran a preview, and it failed.
	PreviewFailedReason = "PreviewFailed"

	// NotDestroyedReason occurs only in events: a Stack was deleted with
	// destroyOnFinalize and preview, and preview prevents it from destroying
	// anything.
	NotDestroyedReason = "NotDestroyed"

	// StackSharedReason occurs only in events: another Stack updates the same
	// stack, and neither only previews.
	StackSharedReason = "StackShared"

	// BackendUnavailableReason: the backend could not be reached, or answered
	// that it is unavailable. Nothing was started, and the controller retries
	// soon.
	BackendUnavailableReason = "BackendUnavailable"

	// RegistryUnavailableReason: a plugin or package that the program needs
	// could not be downloaded. No resource was touched, and the controller
	// retries soon.
	RegistryUnavailableReason = "RegistryUnavailable"

	// StackLockedReason: another user of Pulumi holds the lock of the stack in the
	// backend. The controller waits for it and never breaks it.
	StackLockedReason = "StackLocked"

	// InvalidSpecReason: the spec is contradictory, or asks for a pod that the
	// API server rejects as invalid. Nothing runs until it is edited.
	InvalidSpecReason = "InvalidSpec"

	// ProgramInvalidReason: the Program has errors, or reaches outside its own
	// project, and is not run. Its next edit is checked at once.
	ProgramInvalidReason = "ProgramInvalid"

	// InputsFailedReason: a Secret or a ConfigMap that the spec names, or a key
	// of one, is missing.
	InputsFailedReason = "InputsFailed"

	// OutputsFailedReason: the last update has succeeded, but its outputs could
	// not be read, or could not be written to the Secret of
	// spec.writeOutputsToSecret.
	OutputsFailedReason = "OutputsFailed"

	// InventoryFailedReason occurs only in events: the list of the resources
	// could not be written. The controller retries, and no run fails because of
	// it.
	InventoryFailedReason = "InventoryFailed"

	// ServiceAccountFailedReason: the controller could not get a token for the
	// service account of the program. Nothing was run, and the controller
	// retries soon.
	ServiceAccountFailedReason = "ServiceAccountFailed"

	// ArtifactGoneReason: the artifact of a run was deleted before the run could
	// fetch it, usually because the source has a newer one. Nothing was started,
	// and the current artifact runs next. If the next run misses the same
	// artifact, it fails with ArtifactFailed. It counts for the retry interval,
	// like a failure.
	ArtifactGoneReason = "ArtifactGone"

	// WorkspaceFailedReason: the run could not be prepared on the controller's
	// machine, because of missing disk space or write permission.
	WorkspaceFailedReason = "WorkspaceFailed"

	// PodFailedReason: the pod of a run could not be started, or died before
	// the run ended: evicted, out of memory, lost with its node, or deleted.
	// The message says which. Whatever it left behind is recovered first.
	PodFailedReason = "PodFailed"

	// StatusNotKeptReason: the API server drops fields of the status that
	// record a run, for example because the CRD of the Pulumi operator was
	// applied over the controller's. Nothing runs, and the controller retries soon.
	StatusNotKeptReason = "StatusNotKept"

	// RunCancelledReason: the controller shut down while the run was in flight,
	// and stopped it. The next controller runs the inputs again at once. Or the
	// Stack was edited before a pod had started the run.
	RunCancelledReason = "RunCancelled"

	// CancelRequestedReason: a person has cancelled the run. It does not start
	// again before a new revision, another change of its inputs or of the spec,
	// or a reconcile request.
	CancelRequestedReason = "CancelRequested"

	// RunInterruptedReason: the controller of a run is gone, or runs of these
	// inputs are interrupted repeatedly. The controller recovers what was left
	// behind before it runs anything else. If the controller itself saw Pulumi
	// being killed, the run has the reason of a failed one, and is recovered
	// too.
	RunInterruptedReason = "RunInterrupted"

	// RecoveryFailedReason: the recovery of what an interrupted run left behind
	// failed. The controller retries.
	RecoveryFailedReason = "RecoveryFailed"

	// ApprovalRequiredReason: what the Stack would do is proposed in status.plan,
	// and waits for an approval. Nothing was changed.
	ApprovalRequiredReason = "ApprovalRequired"

	// PlanRejectedReason: a person has rejected the plan in status.plan. Nothing
	// runs until something changes, or a reconcile is requested.
	PlanRejectedReason = "PlanRejected"

	// PendingOperationsReason: it is unknown whether some resources were
	// created. See spec.pendingCreates.
	PendingOperationsReason = "PendingOperations"
)

// RecoveredStatus is the lastReconciledStatus that status.history shows for a
// recovery that succeeded: what an interrupted run left behind was recovered.
const RecoveredStatus = "Recovered"

// ProposedStatus is the lastReconciledStatus that status.history shows for a run
// that has proposed a plan, and changed nothing.
const ProposedStatus = "Proposed"

// StackFinalizer holds a Stack until its promises for deletion are fulfilled.
// It is the Pulumi operator's, so that a Stack can move here and back.
const StackFinalizer = "finalizer.stack.pulumi.com"

// ReconcileRequestAnnotation requests a run in the way of the Pulumi operator:
// each new value starts one. Flux's own annotation does the same.
const ReconcileRequestAnnotation = "pulumi.com/reconciliation-request"

// ReleaseRunAnnotation is how a person confirms that the controller of a run is
// gone for good, with everything that it had started, if nothing else proves
// it. Its value is the ID of that run, status.run.id, so that it releases no
// other. The Stack is then recovered as after any run whose controller is gone.
const ReleaseRunAnnotation = "pulumi.com/release-run"

// CancelRunAnnotation stops the run in flight without harm: the operations in
// flight are finished and recorded, for which they have the --cancel-grace of
// the controller, 5 minutes by default. Its value is the ID of that run,
// status.run.id, so that it cancels no other. The run does not start again
// before a new revision, another change of its inputs or of the spec, or a
// reconcile request.
const CancelRunAnnotation = "pulumi.com/cancel-run"

// CancelRunNowAnnotation does the same without waiting for the operations in
// flight, from which the Stack is then recovered. It may follow the other
// annotation.
const CancelRunNowAnnotation = "pulumi.com/cancel-run-now"

// PreviewRequestAnnotation asks what an update would do: each new value is
// answered once, in status.preview, and changes nothing.
const PreviewRequestAnnotation = "pulumi.com/preview-requested-at"

// PreviewProgramAnnotation makes such a preview run a given program instead of
// that of the Stack. Its value is <ConfigMap>@sha256:<checksum>: a ConfigMap in
// the namespace of the Stack, and the digest of the content of a key in its
// binaryData: program.tar.gz, the directory of the program as an archive, or
// program.json if the Stack has spec.programRef, the field program of a Program
// as JSON. Either can have at most 768 KiB.
const PreviewProgramAnnotation = "pulumi.com/preview-program"
