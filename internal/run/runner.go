// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import "errors"

// Ref names a run and its Stack.
type Ref struct {
	ID, Namespace, Name string
}

// Phase is the phase of a run.
type Phase string

const (
	// Unknown is a run that this runner does not know: never started here, or forgotten.
	Unknown Phase = "Unknown"
	// Running is a run in flight.
	Running Phase = "Running"
	// Ended is a run that has a Result.
	Ended Phase = "Ended"
)

// ErrRefused is wrapped by the errors of Runner.Start that prove that no run was started.
var ErrRefused = errors.New("the run was not started")

// Recorded is what a Stack has recorded of a run.
type Recorded struct {
	// InFlight reports whether it is the Stack's run in flight.
	InFlight bool
	// Operation of the run, empty if it is not in flight.
	Operation Operation
	// Cancelled reports whether a person has cancelled the run, and AtOnce whether not to
	// wait for its operations in flight.
	Cancelled, AtOnce bool
}

// ErrCancelled is the cause of runs that a person has cancelled.
var ErrCancelled = errors.New("requested by a user")

// Runner does runs somewhere. Its methods do not wait for a run.
type Runner interface {
	Slots
	// Background returns the slots of the runs in the background, apart from those of all others.
	Background() Slots
	Runs
	// Start starts a run in the reserved slot of its Stack, and returns at once.
	Start(r Run) error
	// ConfirmFound says that the status has what a run in flight has found. The run may wait
	// for that.
	ConfirmFound(of Ref, found Found)
	// Ended lists the runs that have ended here and were not forgotten.
	Ended() []Ref
	// Closed reports whether the Runner starts no more runs, as this process is ending.
	Closed() bool
}

// Slots limit how many runs are in flight.
type Slots interface {
	// Reserve asks for a slot for one run of a Stack. It returns false if none is free,
	// or if a run of the Stack is still in flight. The Stack is then woken when it is its
	// turn, or at the end of that run.
	Reserve(namespace, name string) bool
	// Release gives back a slot, or a place in the queue, without a run.
	Release(namespace, name string)
	// Postpone gives back the slot of a Stack that is about to ask for it again, and keeps
	// it for that Stack for a short while.
	Postpone(namespace, name string)
}

// Runs are the runs that were started somewhere, until they are forgotten.
type Runs interface {
	// Look returns the phase of a run, and its Result once it has ended.
	Look(of Ref) (Phase, *Result)
	// Report returns what a run in flight has reported, zero for any other. The Stack is
	// woken when the run waits for something else, and when there is more in
	// UnknownCreates or Found.
	Report(of Ref) Report
	// Cancel ends a run in flight: gently, after its operations in flight, or now. It is
	// idempotent, and does nothing for any other run.
	Cancel(of Ref, now bool) error
	// Forget drops all state of a run that has ended.
	Forget(of Ref) error
}

// Report is what is known of a run in flight.
type Report struct {
	Progress Progress
	// UnknownCreates are the creations of unknown outcome that are known so far.
	UnknownCreates []string
	// Found is what the run has found out about its stack.
	Found Found
	// Withdrawable reports whether the run may be ended because its Stack asks for
	// something else by now: it has a Job of which no pod has started the run.
	Withdrawable bool
	// Unproven is why nothing proves whether the run is at work, empty if that is known.
	Unproven string
}
