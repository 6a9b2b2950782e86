// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Reasons of the Ready condition that Flux has no word for. The others are
// those of github.com/fluxcd/pkg/apis/meta: Progressing,
// ReconciliationSucceeded, ArtifactFailed, and so on.
const (
	// UpdateFailedReason: Pulumi ran an update and it failed. What it made
	// before it failed is in the state of the stack.
	UpdateFailedReason = "UpdateFailed"

	// DestroyFailedReason: Pulumi ran a destroy, and it failed. The Stack is
	// kept and the destroy is tried again.
	DestroyFailedReason = "DestroyFailed"

	// RefreshFailedReason: the refresh has found changes, and
	// spec.expectNoRefreshChanges forbids them. Nothing was changed.
	RefreshFailedReason = "RefreshFailed"

	// PreviewFailedReason: Pulumi ran a preview, and it failed.
	PreviewFailedReason = "PreviewFailed"

	// NotDestroyedReason is one of an event only: a Stack was deleted with
	// destroyOnFinalize and preview, and preview does not let it destroy anything.
	NotDestroyedReason = "NotDestroyed"

	// BackendUnavailableReason: the backend could not be reached, or answered that
	// it cannot serve now. Nothing was begun, and it is tried again soon.
	BackendUnavailableReason = "BackendUnavailable"

	// RegistryUnavailableReason: a plugin or package that the program needs could
	// not be downloaded. No resource was touched, and it is tried again soon.
	RegistryUnavailableReason = "RegistryUnavailable"

	// StackLockedReason: somebody else holds the lock of the stack in the
	// backend. It is waited for and never broken.
	StackLockedReason = "StackLocked"

	// InvalidSpecReason: the spec contradicts itself. Nothing runs until it is
	// edited.
	InvalidSpecReason = "InvalidSpec"

	// ProgramInvalidReason: the Program has faults, or reaches outside its own
	// project, and is not run. Its next edit is looked at at once.
	ProgramInvalidReason = "ProgramInvalid"

	// InputsFailedReason: a Secret or a ConfigMap, or a key of one, that the spec
	// names is missing.
	InputsFailedReason = "InputsFailed"

	// OutputsFailedReason: the last update has succeeded, and its outputs could not
	// be read, or not be written to the Secret of spec.writeOutputsToSecret.
	OutputsFailedReason = "OutputsFailed"

	// InventoryFailedReason is one of an event only: the list of the resources could
	// not be written. It is tried again, and no run fails for it.
	InventoryFailedReason = "InventoryFailed"

	// ServiceAccountFailedReason: no token could be had for the service account
	// that the program is to use. Nothing was run, and it is tried again soon.
	ServiceAccountFailedReason = "ServiceAccountFailed"

	// WorkspaceFailedReason: the run could not be prepared on the controller's
	// machine, for want of disk space or the right to write.
	WorkspaceFailedReason = "WorkspaceFailed"

	// PodFailedReason: the pod of a run could not be started, or did not live to its
	// end: evicted, out of memory, lost with its node, or deleted. The message says
	// which. What it may have left behind is found out and healed first.
	PodFailedReason = "PodFailed"

	// RunCancelledReason: the controller ended while the run was in flight, and
	// had it stop. The next controller runs the inputs again at once.
	RunCancelledReason = "RunCancelled"

	// CancelRequestedReason: a person has cancelled the run. It is not begun again
	// before a new revision, another change of its inputs or of the spec, or a reconcile
	// request.
	CancelRequestedReason = "CancelRequested"

	// RunInterruptedReason: the controller that had a run is gone, or runs of these
	// inputs are interrupted time after time. What it left behind is found out and
	// healed before anything else is run. A run whose controller has seen Pulumi
	// being killed has the reason of one that failed, and is healed all the same.
	RunInterruptedReason = "RunInterrupted"

	// RecoveryFailedReason: what an interrupted run left behind could not be
	// found out or healed. It is tried again.
	RecoveryFailedReason = "RecoveryFailed"

	// PendingOperationsReason: nobody knows whether some resources were created.
	// See spec.pendingCreates.
	PendingOperationsReason = "PendingOperations"
)

// StackFinalizer holds a Stack until what it promised on deletion is done. It
// is the Pulumi operator's, so that a Stack can move here and back.
const StackFinalizer = "finalizer.stack.pulumi.com"

// ReconcileRequestAnnotation is how the Pulumi operator is asked for a run: each
// new value starts one. Flux's own annotation does the same.
const ReconcileRequestAnnotation = "pulumi.com/reconciliation-request"

// ReleaseRunAnnotation is how a person says that the controller which has a run is
// gone for good, with all that it had started, where nothing proves it. Its value is
// the ID of that run, status.run.id, so that it releases no other. The Stack is then
// recovered as after any run whose controller is gone.
const ReleaseRunAnnotation = "pulumi.com/release-run"

// CancelRunAnnotation is how a person has the run in flight end, without harm: what is
// in flight is finished and recorded. Its value is the ID of that run, status.run.id,
// so that it cancels no other. The run is not begun again before a new revision,
// another change of its inputs or of the spec, or a reconcile request.
const CancelRunAnnotation = "pulumi.com/cancel-run"

// CancelRunNowAnnotation does the same without waiting for what is in flight, which
// the Stack is then recovered from. It may follow on the other.
const CancelRunNowAnnotation = "pulumi.com/cancel-run-now"

// PreviewRequestAnnotation is how somebody asks what an update would do: each new value
// is answered once, in status.preview, and changes nothing.
const PreviewRequestAnnotation = "pulumi.com/preview-requested-at"

// PreviewProgramAnnotation has such a preview run a program that somebody has brought,
// in place of that of the Stack. Its value is <ConfigMap>@sha256:<checksum>: a ConfigMap
// in the namespace of the Stack, and the digest of what its binaryData have in the key
// program.tar.gz, the directory of the program as an archive, or program.json where the
// Stack has spec.programRef, the field program of a Program as JSON. Neither may have
// more than 768 KiB.
const PreviewProgramAnnotation = "pulumi.com/preview-program"
