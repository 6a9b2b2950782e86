// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import "errors"

// Ref names a run and its Stack.
type Ref struct {
	ID, Namespace, Name string
}

// Phase is where a run stands.
type Phase string

const (
	// Unknown is a run that this runner knows nothing of: never started here, or
	// forgotten.
	Unknown Phase = "Unknown"
	// Running is a run in flight.
	Running Phase = "Running"
	// Ended is a run that has a Result.
	Ended Phase = "Ended"
)

// ErrRefused is wrapped by the errors of Runner.Start that prove that nothing
// was started.
var ErrRefused = errors.New("the run was not started")

// Recorded is what a Stack has recorded of a run.
type Recorded struct {
	// InFlight says that the run is the one of the Stack that is in flight.
	InFlight bool
	// Cancelled says that a person has asked for the end of it, and AtOnce that what it has
	// in flight is not to be waited for.
	Cancelled, AtOnce bool
}

// ErrCancelled is the cause of the end of runs that a person has cancelled.
var ErrCancelled = errors.New("somebody asked for it")

// Runner does runs somewhere. Its methods do not wait for a run.
type Runner interface {
	// Reserve asks for the slot of one run on behalf of a Stack. It returns
	// false when all are taken: the Stack is then told as soon as one is free
	// and it is the Stack's turn. It also does while a run of the Stack is in
	// flight, at the end of which the Stack is told.
	Reserve(namespace, name string) bool
	// Release gives a slot back, or the wait for one, that no run was started
	// for.
	Release(namespace, name string)
	// Abandon drops all that is kept for a Stack that does not exist any more. A
	// run of it that is in flight goes on.
	Abandon(namespace, name string)
	// Start starts a run in the slot reserved for its Stack and returns at
	// once.
	Start(r Run) error
	// Cancel has a run in flight end: gently, so that the operations in flight are
	// finished, or now. It does nothing for any other run, and nothing the second time.
	Cancel(id string, now bool) error
	// Look tells where a run stands, and its Result once it has ended. Its namespace saves
	// a search in all of them.
	Look(of Ref) (Phase, *Result)
	// Ended lists the runs that have ended here and have not been forgotten.
	Ended() []Ref
	// Forget drops all that is kept of a run that has ended.
	Forget(id string) error
}
