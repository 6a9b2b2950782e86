// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Holder is who has the run that is recorded.
type Holder string

const (
	// HeldHere: this process recorded the run.
	HeldHere Holder = "Here"
	// HeldElsewhere: another process recorded it, which is alive for all that is
	// known.
	HeldElsewhere Holder = "Elsewhere"
	// HolderGone: another process recorded it, and is proven to be gone.
	HolderGone Holder = "Gone"
)

// Run is what is observed of the run that is recorded in the Stack.
type Run struct {
	Phase  run.Phase
	Holder Holder
	// Unproven is why nobody can find out whether its holder is gone, before a person
	// has mended that.
	Unproven string
	// Released: a person says that whoever has it is gone.
	Released bool
	// StartedAt is when it was recorded.
	StartedAt time.Time
	// CancelAsked: a person asks for its end in a way that has not been passed on yet.
	CancelAsked bool
	// Withdrawable: no pod has begun it, and the Stack was edited or deleted since it was
	// recorded.
	Withdrawable bool
	// Told: the status tells how far it had come, and what it waits for now.
	Told bool
	// ToldAfter is how long it had taken when it was last told of, zero where it is not
	// to be told of again.
	ToldAfter time.Duration
	// UnknownCreates are the URNs of the creations that it has begun and of which
	// nobody knows the outcome, while it goes on with others.
	UnknownCreates []string
}

// Problem is why nothing can be run now.
type Problem struct {
	// Reason and Message for the Ready condition.
	Reason, Message string
	// Terminal problems are not solved by trying again.
	Terminal bool
	// Awaited: what is missing is likely on its way, as the artifact of a source is
	// that was made together with the Stack. Nobody has to be told.
	Awaited bool
	// Fetching: it is fetched just now, so that nothing has failed.
	Fetching bool
	// Since is when it began, for one that likely passes by itself and is worth a
	// look before the retry interval. Zero is for all others.
	Since time.Time
}

// LastRun is what the status tells of the last run.
type LastRun struct {
	// Operation of the run, empty if there was none.
	Operation run.Operation
	// Digest of the inputs of the last run that was neither a recovery nor a destroy,
	// empty after a destroy.
	Digest string
	// RunDigest of the inputs of this one, whatever it was: empty where they were not
	// known.
	RunDigest string
	// Succeeded, or else the Reason and the Message of its failure.
	Succeeded       bool
	Reason, Message string
	// Cancelled: it did not fail but was told to stop, with the controller.
	Cancelled bool
	// Interrupted: nobody has seen how it ended.
	Interrupted bool
	// Unavailable: it could not begin, because something that it needs from
	// elsewhere was out of reach.
	Unavailable bool
	// Locked: it could not begin, because somebody else had the lock.
	Locked bool
	// Invalid: it could not begin, because the spec asks for something impossible.
	Invalid bool
	// EndedAt is when it ended.
	EndedAt time.Time
}

// Cancelled is the last run, where a person has cancelled it.
type Cancelled struct {
	Operation run.Operation
	// Digest of its inputs.
	Digest string
	// Message that says so.
	Message string
}

// Outputs is what is observed of the Secret that the outputs are written to. The zero
// value is that there is to be none, or that it is as it should be.
type Outputs struct {
	// Stale: the Secret is missing, or does not have what it should.
	Stale bool
	// Blocked is why the Secret cannot be written, whatever the outputs are.
	Blocked string
	// Fault is why the outputs could not be read or written the last time. RetryAt is
	// when to try again; zero is that time does not help.
	Fault   string
	RetryAt time.Time
}

// Observation is all that a decision rests on.
type Observation struct {
	// Deleting: the object has a deletion timestamp.
	Deleting bool
	// Held: the object has our finalizer. It is added just before the first run
	// is recorded, so that an object without it has nothing to undo.
	Held bool
	// NeverRan: runs have ended, and none of them got as far as Pulumi.
	NeverRan bool
	// NamespaceEnds: the namespace is being deleted, and takes nothing that a run here
	// needs to be made in it. It is looked at for a Stack that is being deleted.
	NamespaceEnds bool
	// Unfound: another controller has updated the stack, and no run has found it in
	// its backend yet.
	Unfound bool
	// Suspended, DestroyOnFinalize, Interval and RetryInterval are the spec's.
	Suspended         bool
	DestroyOnFinalize bool
	Interval          time.Duration
	RetryInterval     time.Duration
	// Preview: nothing but previews may be run. ContinueResync asks for a run at
	// each interval, and RetryConflict for one soon after a lock. They are the
	// spec's too.
	Preview        bool
	ContinueResync bool
	RetryConflict  bool
	// Run that is recorded, if any.
	Run *Run
	// Problem that stands in the way of a run, if any.
	Problem *Problem
	// Unready are the dependencies that are not ready, each with why. Dependents
	// are the Stacks that depend on this one and have to go before it.
	Unready, Dependents []string
	// Untold is when to look again at other Stacks of whose changes nothing tells.
	// Zero is that something does.
	Untold time.Duration
	// Interrupted: a run has ended by force, or out of sight, and has not been
	// recovered from.
	Interrupted bool
	// Recoverable: the Problem is with the program, and all that a recovery needs is at
	// hand.
	Recoverable bool
	// UnknownCreates are the URNs of resources of which nobody knows whether they
	// were created. ClearPendingCreates is what the spec wants done with them.
	UnknownCreates      []string
	ClearPendingCreates bool
	// Digest of the inputs as they are now.
	Digest string
	// AppliedElsewhere: another controller has applied the inputs as they are now,
	// and none of this one has run any since.
	AppliedElsewhere bool
	// PreviewRequested: somebody asks what a run would do.
	PreviewRequested bool
	// PreviewWaits: that is known to wait for its turn, and is woken when it has come.
	PreviewWaits bool
	// Requested: somebody asks for a run that has not been answered.
	Requested bool
	// Owed: a run that somebody asked for was answered, or recorded, and could not
	// begin yet.
	Owed bool
	// Edited: the spec was edited, or the object deleted, since the last run.
	Edited bool
	// Last run, and how many have failed one after the other up to it.
	Last     LastRun
	Failures int64
	// Cancelled is the last run, where a person has cancelled it and has not edited the
	// spec since.
	Cancelled *Cancelled
	// Outputs that are to be in a Secret.
	Outputs Outputs
	// Now is the time of the observation.
	Now time.Time
}
