// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package decide holds the rules: from what is observed of a Stack to the one
// next action. It is pure. A client, a clock, a logger or a goroutine must
// never be needed here, so that every rule can be tested as a table.
//
// The rules are an ordered list, and the first that has something to say
// decides. The list is the specification: see forDeletion and forUpdate.
package decide

import (
	"fmt"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Action is what to do next. The set is closed.
type Action string

const (
	// Nothing: leave the Stack as it is until something happens.
	Nothing Action = "Nothing"
	// Start a run.
	Start Action = "Start"
	// Absorb the result of the run that has ended.
	Absorb Action = "Absorb"
	// Withdraw the record of a run that was never started.
	Withdraw Action = "Withdraw"
	// Lose the run: its holder is gone and nobody has seen how it ended.
	Lose Action = "Lose"
	// Release the run: a person says that its holder is gone, which nothing proves.
	Release Action = "Release"
	// Tell how far the run in flight has come, and name its creations of unknown
	// outcome, if there are any.
	Tell Action = "Tell"
	// Look at what an update would do, as somebody asks, or say why that is not
	// possible.
	Look Action = "Look"
	// Cancel the run in flight, as a person asks.
	Cancel Action = "Cancel"
	// CallOff the run in flight, which waits for its pod: the Stack asks for something else.
	CallOff Action = "CallOff"
	// NameCreates names the creations of unknown outcome of the run in flight.
	NameCreates Action = "NameCreates"
	// LetGo of an object that is being deleted.
	LetGo Action = "LetGo"
	// InSync: the Stack is as its inputs say.
	InSync Action = "InSync"
	// TakeOver the Stack from the controller that has applied its inputs.
	TakeOver Action = "TakeOver"
	// Fail: the Stack cannot be reconciled now, and will be tried again.
	Fail Action = "Fail"
	// Stall: the Stack cannot be reconciled until somebody edits something.
	Stall Action = "Stall"
	// Wait: another Stack has to come first, and its change is what is waited for.
	Wait Action = "Wait"
)

// Decision is the next action and what to tell of it.
type Decision struct {
	Action Action
	// Operation to start, for Start.
	Operation run.Operation
	// Reason and Message of a Fail, a Stall or a Wait.
	Reason, Message string
	// Awaited and Fetching are those of the Problem.
	Awaited, Fetching bool
	// After is when to look again if nothing happens before. Zero is never.
	After time.Duration
}

// rule decides, or returns false to leave it to the next rule.
type rule struct {
	// about is what the rule looks at, and found what it sees, for a person.
	about  string
	found  func(Observation) string
	decide func(Observation) (Decision, bool)
}

// Next decides.
func Next(o Observation) Decision { return lookBetween(o, next(o)) }

func next(o Observation) Decision {
	for _, r := range rules(o) {
		if d, ok := r.decide(o); ok {
			return d
		}
	}
	return Decision{Action: InSync, After: untilResync(o)}
}

func rules(o Observation) []rule {
	if o.Deleting {
		return forDeletion()
	}
	return forUpdate()
}

// forUpdate lists the rules for a Stack that is to be.
func forUpdate() []rule {
	rules := append([]rule{
		{AboutRun, foundRun, runRecorded},                                     // one run at a time, and its result is absorbed before anything else
		{"suspension", foundSuspended, suspended},                             // no new run
		{"cancelled recovery", foundCancelled, cancelled(run.Recover)},        // a person wants none of it
		{"recovery without a program", foundInterrupted, recoverable},         // what an interrupted run left behind, though there is nothing to run
		{"faults that only an edit mends", foundProblem, fault},               // not allowed to, or not possible, before somebody edits something
		{"dependencies", foundDependencies, dependencies},                     // other Stacks come first
		{"what a run needs", foundProblem, problem},                           // nothing to run
		{"interrupted runs", foundInterrupted, recovery},                      // first of all, what an interrupted run left behind
		{"cancelled run", foundCancelled, cancelled(run.Update, run.Preview)}, // a person wants no more of the same
	}, forRun()...)
	return append(rules, rule{"Secret with the outputs", foundOutputs, outputs}) // those of the last update, with nothing more to be run
}

// forRun lists the rules on whether the program is to be run.
func forRun() []rule {
	return []rule{
		{"requests", foundRequests, requested},                             // somebody asks
		{"what another controller has applied", foundElsewhere, takenOver}, // another controller has applied the inputs
		{"inputs", foundInputs, changedInputs},                             // never run, or with other inputs
		{"recovery before", foundLast, recovered},                          // what was interrupted is run again, but not at once time after time
		{"last run", foundLast, failedBefore},                              // the same again, but not at once
		{"resync", foundResync, resync},                                    // nothing new, but the interval has passed
	}
}

// forDeletion lists the rules for a Stack that is to go.
func forDeletion() []rule {
	return []rule{
		{AboutRun, foundRun, runRecorded},                               // a run in flight is not cut
		{"whether there is anything to undo", foundHeld, nothingToUndo}, // never ran, or nothing is to be run any more
		{"namespace", foundNamespace, namespaceEnds},                    // in which no run can be begun any more
		{"cancelled recovery", foundCancelled, cancelled(run.Recover)},  // a person wants none of it
		{"destroyOnFinalize", foundDestroy, leave},                      // everything where it is, once it is known what an interrupted run left behind
		{"whether it is destroyed", foundLast, destroyed},               // which needs nothing more, even if what it needed is gone by now
		{"what a run needs", foundProblem, problem},                     // what the destroy needs is missing
		{"interrupted runs", foundInterrupted, recovery},                // or the destroy would miss what nobody knows of
		{"cancelled destroy", foundCancelled, cancelled(run.Destroy)},   // a person wants no more of it
		{"dependents", foundDependents, dependents},                     // which may use what is to be destroyed
		{"whether the stack was found", foundUnfound, unfound},          // or a destroy that nobody saw the end of could not be told from one that found nothing
		{"last destroy", foundLast, failedDestroy},                      // the same again, but not at once
		{"recovery before", foundLast, destroyAgain},                    // after a recovery, but not at once time after time
		{"destroy", foundDestroy, destroy},
	}
}

func suspended(o Observation) (Decision, bool) {
	return Decision{Action: Nothing}, o.Suspended
}

func problem(o Observation) (Decision, bool) {
	switch {
	case o.Problem == nil:
		return Decision{}, false
	case o.Problem.Terminal:
		return Decision{Action: Stall, Reason: o.Problem.Reason, Message: o.Problem.Message, After: o.Untold}, true
	default:
		return Decision{Action: Fail, Reason: o.Problem.Reason, Message: o.Problem.Message,
			Awaited: o.Problem.Awaited, Fetching: o.Problem.Fetching, After: problemDelay(o)}, true
	}
}

// recovery comes before any other run: with operations in flight in its state,
// Pulumi would create a second time what may have been created already. A
// preview creates nothing, and a recovery would change the state: where nothing
// but previews may be run, it waits.
func recovery(o Observation) (Decision, bool) {
	unknown := len(o.UnknownCreates) > 0
	switch {
	case o.Preview:
		return Decision{}, false
	case o.Interrupted, unknown && o.ClearPendingCreates:
		if o.Last.Operation == run.Recover && !o.Last.Succeeded {
			return retry(o, run.Recover), true
		}
		return Decision{Action: Start, Operation: run.Recover}, true
	case unknown:
		return Decision{Action: Stall, Reason: v1.PendingOperationsReason, Message: UnknownCreatesMessage(o.UnknownCreates)}, true
	}
	return Decision{}, false
}

// recoverable has a recovery not wait for a program that it does not need: until it is
// done, the stack is locked, and nobody knows what the interrupted run has made.
func recoverable(o Observation) (Decision, bool) {
	if o.Problem == nil || !o.Recoverable || !o.Interrupted {
		return Decision{}, false
	}
	return recovery(o)
}

// UnknownCreatesMessage tells which resources they are, status.unknownCreates all of
// them, and what to do.
func UnknownCreatesMessage(urns []string) string {
	return fmt.Sprintf("It is not known whether these resources were created: %s. Look for them at their provider, "+
		"import them into the stack or delete them, and set spec.pendingCreates: Clear", some(urns))
}

// operation is what is run to have reality as the program says.
func operation(o Observation) run.Operation {
	if o.Preview {
		return run.Preview
	}
	return run.Update
}

func requested(o Observation) (Decision, bool) {
	return Decision{Action: Start, Operation: operation(o)}, o.Requested || o.Owed
}

// takenOver needs no run for what another controller has applied, unless that one
// would run it again by now. A preview changes nothing, and its message is what it
// is for: that is not taken over.
func takenOver(o Observation) (Decision, bool) {
	if _, due := resync(o); due || o.Preview {
		return Decision{}, false
	}
	return Decision{Action: TakeOver, After: untilResync(o)}, o.AppliedElsewhere
}

// changedInputs compares with the inputs of the last attempt and not of the
// last success: an attempt that failed half-way may have undone what the last
// success had made, so going back to those inputs is a change too.
func changedInputs(o Observation) (Decision, bool) {
	return Decision{Action: Start, Operation: operation(o)}, o.Digest != o.Last.Digest
}

// recovered runs again what was interrupted, or had left creations of unknown
// outcome. At once the first time; inputs that end that way each time, as those do
// that need more memory than there is, wait longer each time: they take the
// controller down with them, and what they create and do not live to tell of may
// be there once more after each.
func recovered(o Observation) (Decision, bool) {
	return retry(o, operation(o)), o.Last.Operation == run.Recover && o.Last.Succeeded
}

func failedBefore(o Observation) (Decision, bool) {
	return retry(o, operation(o)), !o.Last.Succeeded
}

func resync(o Observation) (Decision, bool) {
	due := o.ContinueResync && o.Now.Sub(o.Last.EndedAt) >= o.Interval
	return Decision{Action: Start, Operation: operation(o)}, due
}

// untilResync is when to look again at a Stack that is in sync: at its interval,
// which where it is to be run again began with the end of the last run.
func untilResync(o Observation) time.Duration {
	if !o.ContinueResync {
		return o.Interval
	}
	// Never more than an interval, if a clock was set back, and no wait too short to
	// be worth a reconcile: who spreads waits may look a little too early.
	return min(o.Interval, max(time.Second, o.Interval-o.Now.Sub(o.Last.EndedAt)))
}

func nothingToUndo(o Observation) (Decision, bool) {
	return Decision{Action: LetGo}, !o.Held || o.Suspended || o.Preview || o.NeverRan
}

// NamespaceEndsMessage tells what to do where a destroy cannot be begun. A namespace that
// is being deleted never takes anything new again.
const NamespaceEndsMessage = "The namespace is being deleted, and takes no new objects, so that no Job can destroy the stack. To let go of it, and keep what it " +
	"manages, set spec.destroyOnFinalize to false. Then destroy it with pulumi destroy, or with the same Stack in another namespace, which is deleted when it is ready"

// namespaceEnds lets go of what need not be destroyed, though it may be open what an
// interrupted run left behind: nobody could find that out.
func namespaceEnds(o Observation) (Decision, bool) {
	if !o.NamespaceEnds {
		return Decision{}, false
	}
	if !o.DestroyOnFinalize {
		return Decision{Action: LetGo}, true
	}
	if done, ok := destroyed(o); ok {
		return done, true
	}
	return Decision{Action: Stall, Reason: v1.DestroyFailedReason, Message: NamespaceEndsMessage}, true
}

// leave lets an object go whose stack is to stay. First it recovers from a run that
// was interrupted: nobody else would remove the lock of that, or name what it may have
// made. Where what a recovery needs is missing, as it is in a namespace that goes, that
// must not keep the object for ever; where a recovery fails, a person lets go by
// suspending the Stack.
func leave(o Observation) (Decision, bool) {
	switch {
	case o.DestroyOnFinalize:
		return Decision{}, false
	case !o.Interrupted, o.Problem != nil:
		return Decision{Action: LetGo}, true
	}
	return recovery(o)
}

// unfound has a stack looked for that another controller has updated, by a run that
// changes nothing, before anything of it is destroyed. A destroy removes the stack:
// where one was interrupted, only that it was there before says that it is gone, and
// not elsewhere.
func unfound(o Observation) (Decision, bool) {
	switch {
	case !o.Unfound:
		return Decision{}, false
	case o.Last.Operation == run.Recover && !o.Last.Succeeded:
		return retry(o, run.Recover), true
	}
	return Decision{Action: Start, Operation: run.Recover}, true
}

func failedDestroy(o Observation) (Decision, bool) {
	return retry(o, run.Destroy), o.Last.Operation == run.Destroy && !o.Last.Succeeded
}

func destroyAgain(o Observation) (Decision, bool) {
	return retry(o, run.Destroy), o.Last.Operation == run.Recover && o.Last.Succeeded
}

func destroyed(o Observation) (Decision, bool) {
	open := o.Interrupted || len(o.UnknownCreates) > 0
	return Decision{Action: LetGo}, !open && o.Last.Operation == run.Destroy && o.Last.Succeeded
}

func destroy(o Observation) (Decision, bool) {
	return Decision{Action: Start, Operation: run.Destroy}, true
}

// String tells the decision in a word or two, for logs and tests.
func (d Decision) String() string {
	if d.Action == Start {
		return fmt.Sprintf("%s %s", d.Action, d.Operation)
	}
	return string(d.Action)
}
