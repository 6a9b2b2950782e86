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
	// Cancelled reports whether a person has cancelled the run, and AtOnce whether not to
	// wait for its operations in flight.
	Cancelled, AtOnce bool
}

// ErrCancelled is the cause of runs that a person has cancelled.
var ErrCancelled = errors.New("somebody asked for it")

// Runner does runs somewhere. Its methods do not wait for a run.
type Runner interface {
	// Reserve asks for a slot for one run of a Stack. It returns false if none is free,
	// or if a run of the Stack is still in flight. The Stack is then woken when it is its
	// turn, or at the end of that run.
	Reserve(namespace, name string) bool
	// Release gives back a slot, or a place in the queue, without a run.
	Release(namespace, name string)
	// Postpone gives back the slot of a Stack that is about to ask for it again, and keeps
	// it for that Stack for a short while.
	Postpone(namespace, name string)
	// Abandon drops all state of a Stack that does not exist any more. Its run in flight
	// goes on.
	Abandon(namespace, name string)
	// Start starts a run in the reserved slot of its Stack, and returns at once.
	Start(r Run) error
	// Cancel ends a run in flight: gently, after its operations in flight, or now. It is
	// idempotent, and does nothing for any other run.
	Cancel(id string, now bool) error
	// Look returns the phase of a run, and its Result once it has ended. The namespace
	// saves a search in all of them.
	Look(of Ref) (Phase, *Result)
	// Progress returns the progress of a run in flight, zero for any other.
	Progress(id string) Progress
	// UnknownCreates returns the creations of unknown outcome that are known so far of a
	// run in flight, none for any other. The Stack is woken when there is another.
	UnknownCreates(id string) []string
	// Found returns what a run in flight has found out, zero for any other. The Stack is
	// woken when that changes.
	Found(id string) Found
	// Noted tells a run in flight that the status says that it has deleted every resource,
	// which it waits for.
	Noted(id string, found Found)
	// Ended lists the runs that have ended here and were not forgotten.
	Ended() []Ref
	// Forget drops all state of a run that has ended.
	Forget(id string) error
	// Closed reports whether the Runner starts no more runs, as this process is ending.
	Closed() bool
}
