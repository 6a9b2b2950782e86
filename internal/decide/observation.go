// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Holder is the process that has the recorded run.
type Holder string

const (
	// HeldHere: this process recorded the run.
	HeldHere Holder = "Here"
	// HeldElsewhere: another process recorded the run, and may be alive.
	HeldElsewhere Holder = "Elsewhere"
	// HolderGone: another process recorded the run, and is proven to be gone.
	HolderGone Holder = "Gone"
)

// Run is what is observed of the run that is recorded in the Stack.
type Run struct {
	// Operation of the run, for Explain.
	Operation run.Operation
	Phase     run.Phase
	Holder    Holder
	// Unproven is why it cannot be determined whether the holder is gone until a person
	// has fixed the cause.
	Unproven string
	// UnprovenJob reports whether a Job may be executing the run that this process cannot
	// see.
	UnprovenJob bool
	// Released reports whether a person says that the holder is gone, or the Job.
	Released bool
	// StartedAt is the time of the record.
	StartedAt time.Time
	// CancelAsked reports whether a request to cancel is still to be passed on.
	CancelAsked bool
	// CancelRecorded reports whether the record says to cancel the run.
	CancelRecorded bool
	// Withdrawable reports whether no pod has started the run, and the Stack was edited or
	// deleted since the record.
	Withdrawable bool
	// Unclaimed reports whether no pod has started the run.
	Unclaimed bool
	// Unapproved reports whether the plan that the run is held to is not approved any more.
	Unapproved bool
	// OtherPacks reports whether the policy packs that are enforced are others than those of the
	// run, and UnknownPacks whether that is not known for now.
	OtherPacks, UnknownPacks bool
	// InBackground reports whether the run is one in the background, and Outdated whether the
	// Stack was edited since the record.
	InBackground, Outdated bool
	// ProgressReported reports whether the status is up to date on the progress of the run.
	ProgressReported bool
	// ReportedAfter is the age of the run at the last update of its progress. Zero is that
	// no further update is to follow.
	ReportedAfter time.Duration
	// UnknownCreates are the URNs of creations of unknown outcome, while the run continues
	// with other resources.
	UnknownCreates []string
	// FoundMore reports whether the run has found out what the status does not have yet.
	FoundMore bool
	// Unconfirmed reports whether the run waits until the status has something that it has.
	Unconfirmed bool
}

// Problem is why no run can start now.
type Problem struct {
	// Reason and Message of the Ready condition.
	Reason, Message string
	// Terminal reports whether a retry cannot help.
	Terminal bool
	// Awaited reports whether what is missing is likely on its way, such as the artifact
	// of a source that was created together with the Stack. Nobody is notified.
	Awaited bool
	// Fetching reports whether it is being fetched right now, so that nothing has failed.
	Fetching bool
	// Since is the start of a problem that may pass by itself, which is looked at before
	// the retry interval. Zero for all others.
	Since time.Time
}

// LastRun is what the status records of the last run.
type LastRun struct {
	// Operation of the run, empty if there was none.
	Operation run.Operation
	// Revision of the program, if the history has it.
	Revision string
	// Digest of the inputs of the last run that was neither a recovery nor a destroy.
	// Empty after a destroy.
	Digest string
	// RunDigest of the inputs of the last run of any kind. Empty if they were not known.
	RunDigest string
	// Succeeded, or else the Reason, as in the conditions, and the Message.
	Succeeded       bool
	Reason, Message string
	// Applied reports whether an update has applied the Digest before a recovery: what it has
	// recovered from was a correction of drift, which has not succeeded.
	Applied bool
	// Policies is the digest of the packs that the run had, "" if it had none.
	Policies string
	// EndedAt is the time at which the run ended.
	EndedAt time.Time
}

// Cancelled is the last run, if a person has cancelled it.
type Cancelled struct {
	Operation run.Operation
	// Digest of its inputs.
	Digest string
	// Message that says so.
	Message string
}

// Outputs is what is observed of the Secret with the outputs. The zero value is a Secret
// that is up to date, or not wanted.
type Outputs struct {
	// Stale reports whether the Secret is missing or out of date.
	Stale bool
	// Blocked is why the Secret cannot be written, whatever the outputs are.
	Blocked string
	// Fault is why the outputs could not be read or written the last time. RetryAt is the
	// time of the next attempt, zero if time does not help.
	Fault   string
	RetryAt time.Time
}

// Observation is all that a decision depends on.
type Observation struct {
	// Deleting reports whether the object has a deletion timestamp.
	Deleting bool
	// HasFinalizer reports whether the object has our finalizer. It is added just before the
	// first run is recorded, so that an object without it has nothing to undo.
	HasFinalizer bool
	// MayHaveCreated reports whether there may be something to undo.
	MayHaveCreated bool
	// NeverRan reports whether runs have ended and none of them got as far as Pulumi.
	NeverRan bool
	// NamespaceEnds reports whether the namespace is being deleted, and accepts no
	// objects that a run would need there. Observed only for a Stack that is being
	// deleted.
	NamespaceEnds bool
	// MustExist reports whether another controller has updated the stack, and no run has
	// found it in its backend yet.
	MustExist bool
	// Suspended, DestroyOnFinalize, Interval and RetryInterval of the spec.
	Suspended         bool
	DestroyOnFinalize bool
	Interval          time.Duration
	RetryInterval     time.Duration
	// Preview reports whether the spec allows only previews, ContinueResync whether it
	// asks for a run at each interval, and RetryConflict for an early retry after a lock.
	Preview        bool
	ContinueResync bool
	RetryConflict  bool
	// ChangeRequest reports whether a preview is for a pull request.
	ChangeRequest bool
	// CommentReplaced reports whether its pull request shows something else than the result of the last
	// preview, such as why none could start.
	CommentReplaced bool
	// PreviewOutdated reports whether the Stack in spec.previewOf has changed something since the last preview, or the
	// reason is gone why its plan cannot be approved. Incomparable reports whether there is such a reason, of
	// which no event may say that it is gone.
	PreviewOutdated, Incomparable bool
	// Approval of what is proposed.
	Approval Approval
	// Run that is recorded, if any.
	Run *Run
	// GitObjects says what is due for the objects that are kept for spec.projectRepo, "" if
	// nothing is. What follows from the program is known only after that.
	GitObjects string
	// Problem that prevents a run, if any.
	Problem *Problem
	// Unready dependencies, each with the reason. Dependents are the Stacks that depend
	// on this one and have to be deleted before it.
	Unready, Dependents []string
	// StalePrerequisites reports whether a prerequisite has to run again.
	StalePrerequisites bool
	// RecheckAfter is when to look again at other Stacks that this controller does not watch.
	// Zero if it watches all that matter.
	RecheckAfter time.Duration
	// Interrupted reports whether a run was killed, or ended unseen, and was not
	// recovered from.
	Interrupted bool
	// Recoverable reports whether the Problem is with the program alone, and a recovery
	// has all it needs.
	Recoverable bool
	// UnknownCreates are the URNs of resources that may or may not have been created.
	// ClearPendingCreates reports whether the spec asks to forget them.
	UnknownCreates      []string
	ClearPendingCreates bool
	// Revision of the program now, "" if it is not known.
	Revision string
	// Digest of the current inputs.
	Digest string
	// AppliedElsewhere reports whether another controller has applied the current inputs,
	// and this one has run none since.
	AppliedElsewhere bool
	// PreviewRequested reports whether a preview on request is to be done.
	PreviewRequested bool
	// PreviewWaits reports whether that preview is queued, which wakes the Stack.
	PreviewWaits bool
	// Requested reports whether there is a request for a run that is not answered yet.
	Requested bool
	// RunPending reports whether a requested run was answered, or recorded, and could not
	// start yet.
	RunPending bool
	// Edited reports whether the spec was edited, or the object deleted, since the last
	// run.
	Edited bool
	// Last run, and the number of consecutive Failures up to it.
	Last     LastRun
	Failures int64
	// Cancelled is the last run, if a person has cancelled it and the spec was not edited
	// since.
	Cancelled *Cancelled
	// Outputs that belong in a Secret. FormerOutputs reports whether they are in one that the
	// spec no longer names.
	Outputs       Outputs
	FormerOutputs bool
	// InventoryRetryAt is when to write an inventory that could not be written. Zero if there
	// is none.
	InventoryRetryAt time.Time
	// Drift is what is decided on of drift, and Policies of policies.
	Drift    Drift
	Policies Policies
	// Now is the time of the observation.
	Now time.Time
}
