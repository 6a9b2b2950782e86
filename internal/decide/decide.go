// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package decide holds the rules: they map what is observed of a Stack to the next
// action. The package is pure: it needs no client, clock, logger or goroutine, so that
// every rule can be tested as a table.
//
// The rules are ordered, and the first that applies decides. The lists in forUpdate and
// forDeletion are the specification.
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
	// Nothing: leave the Stack as it is until the next event.
	Nothing Action = "Nothing"
	// MarkSuspended says that the Stack is suspended.
	MarkSuspended Action = "MarkSuspended"
	// MarkHeldElsewhere says that another process has the run, as far as is known.
	MarkHeldElsewhere Action = "MarkHeldElsewhere"
	// KeepGitObjects writes or deletes the objects that are kept for spec.projectRepo. What
	// comes next is decided after it.
	KeepGitObjects Action = "KeepGitObjects"
	// Start a run.
	Start Action = "Start"
	// Absorb the result of a run that has ended.
	Absorb Action = "Absorb"
	// DropRecord of a run that was never started.
	DropRecord Action = "DropRecord"
	// MarkInterrupted: the holder of the run is gone, and nobody saw how it ended. A
	// check for drift is given up also while its holder may be alive.
	MarkInterrupted Action = "MarkInterrupted"
	// Release the run: a person says that its holder is gone, which nothing proves.
	Release Action = "Release"
	// ReportProgress of the run in flight, and what it has found out, in the status.
	ReportProgress Action = "ReportProgress"
	// PreviewOnRequest previews what an update would do, as requested, or says why that is
	// not possible.
	PreviewOnRequest Action = "PreviewOnRequest"
	// Cancel the run in flight, as requested.
	Cancel Action = "Cancel"
	// Withdraw the run in flight, which still waits for its pod: the Stack asks for
	// something else.
	Withdraw Action = "Withdraw"
	// StopCheck stops the check for drift in flight: the Stack needs another run.
	StopCheck Action = "StopCheck"
	// RecordFindings: write to the status what the run in flight has found out, and what
	// the next process has to know.
	RecordFindings Action = "RecordFindings"
	// RemoveFinalizer of an object that is being deleted.
	RemoveFinalizer Action = "RemoveFinalizer"
	// InSync: the Stack matches its inputs.
	InSync Action = "InSync"
	// TakeOver the Stack from the controller that has applied its inputs.
	TakeOver Action = "TakeOver"
	// Fail: the Stack cannot be reconciled now; retry later.
	Fail Action = "Fail"
	// Stall: the Stack cannot be reconciled until someone edits something.
	Stall Action = "Stall"
	// Wait until another Stack has changed: it has to come first.
	Wait Action = "Wait"
	// AwaitApproval of a plan by a person.
	AwaitApproval Action = "AwaitApproval"
)

// Decision is the next action, and what to report of it.
type Decision struct {
	Action Action
	// Operation to Start.
	Operation run.Operation
	// Approved is the digest of the plan that the run is held to, "" if it needs no approval.
	Approved string
	// Drift is the digest of the drift that the run corrects, or proposes to, "" for any other.
	Drift string
	// Reason and Message of a Fail, a Stall, a Wait or an AwaitApproval.
	Reason, Message string
	// Awaited and Fetching are copied from the Problem, or say that a newer artifact is
	// awaited.
	Awaited, Fetching bool
	// After is when to reconcile again unless an event comes first. Zero is never.
	After time.Duration
	// Duties to do before the action, in this order.
	Duties []Duty
	// Check says to check for drift after the action, and CheckPolicies to check the policies.
	Check, CheckPolicies bool
}

// rule decides, or returns false to leave the decision to the next rule.
type rule struct {
	// about is what the rule looks at, and found describes what it sees there, both for
	// Explain.
	about  string
	found  func(Observation) string
	decide func(Observation) (Decision, bool)
}

// Next returns the decision of the first rule that applies, or InSync, with the duties
// beside it. A requested preview and checks for drift and of policies are done between two runs.
func Next(o Observation) Decision { return complete(o, next(o)) }

// complete makes the decision of a rule complete.
func complete(o Observation, d Decision) Decision {
	due := stopCheck(o, previewBetween(o, correctDrift(o, proposeFirst(o, d))))
	return withDuties(o, checkPoliciesBetween(o, checkBetween(o, due)))
}

func next(o Observation) Decision { return firstOf(o, rules(o)) }

// firstOf returns the decision of the first of the rules that applies, or InSync.
func firstOf(o Observation, rules []rule) Decision {
	for _, r := range rules {
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

// forUpdate lists the rules for a Stack that is not being deleted.
func forUpdate() []rule {
	rules := append([]rule{
		{AboutRun, foundRun, runRecorded},                              // one run at a time, and its result counts before anything else
		{aboutGit, foundGitObjects, gitObjects},                        // before all that depends on the program
		{"suspension", foundSuspended, suspended},                      // no new run
		{"cancelled recovery", foundCancelled, cancelled(run.Recover)}, // before any recovery: a person has cancelled it
		{"recovery without a program", foundInterrupted, recoverable},  // before faults: a recovery does not need the program that is at fault
		{"faults that need an edit", foundProblem, fault},              // before anything that is waited for: only an edit helps
		{"dependencies", foundDependencies, dependencies},              // before other problems: what is missing is often what a dependency makes
		{"what a run needs", foundProblem, problem},                    // no run without its inputs
		{"interrupted runs", foundInterrupted, recovery},               // before any other run: Pulumi must not start from operations in flight
		{"cancelled run", foundCancelled, cancelledUpdate()},           // before any update or preview: a person has cancelled it
		{"policy packs", foundPolicyPacks, policyPacks},                // before any run of the program, if one is due, and after recoveries, which need no packs
	}, forRun()...)
	return append(rules, rule{"Secret with the outputs", foundOutputs, outputs}) // last: it needs no run of the program, and an update writes the outputs anyway
}

// forRun lists the rules that decide whether to run the program.
func forRun() []rule {
	return []rule{
		{"requests", foundRequests, requested},                         // a request does not back off
		{"what another controller applied", foundElsewhere, takenOver}, // before inputs: what the other controller has applied is not run again
		{"inputs", foundInputs, changedInputs},                         // never run, or other inputs: neither backs off
		{"pull request", foundCommit, outdated},                        // after inputs: what is shown there is outdated with the same inputs
		{"recovery before", foundLast, recovered},                      // before last run: a recovery that succeeded has not run the program
		{"last run", foundLast, failedBefore},                          // the same inputs again, with a back-off
		{"approval", foundPlan, proposed(operation)},                   // before resync: what is proposed waits
		{"resync", foundResync, resync},                                // nothing has changed, but the interval has passed
	}
}

// forDeletion lists the rules for a Stack that is being deleted.
func forDeletion() []rule {
	return []rule{
		{AboutRun, foundRun, runRecorded},                                    // a run in flight is not cut short
		{"whether there is anything to undo", foundFinalizer, nothingToUndo}, // before all that could fail: nothing to undo, or nothing may be run
		{"namespace", foundNamespace, namespaceEnds},                         // before any run: none can start in a namespace that is being deleted
		{aboutGit, foundGitObjects, gitObjects},                              // before all that depends on the program
		{"cancelled recovery", foundCancelled, cancelled(run.Recover)},       // before any recovery: a person has cancelled it
		{"destroyOnFinalize", foundDestroy, leave},                           // before problems: a Stack that is kept needs little to go
		{"whether it is destroyed", foundLast, destroyed},                    // before problems: what the destroy needed may be gone by now
		{"what a run needs", foundProblem, noDestroy},                        // no destroy without its inputs
		{"interrupted runs", foundInterrupted, recovery},                     // before the destroy, which would miss resources that are not in the state
		{"cancelled destroy", foundCancelled, cancelledDestroy()},            // before the destroy: a person has cancelled it
		{"dependents", foundDependents, dependents},                          // before the destroy: they may use what it deletes
		{"whether the stack was found", foundMustExist, mustExist},           // before the destroy, which removes the stack: was it there at all?
		{"last destroy", foundLast, failedDestroy},                           // a failed destroy again, with a back-off
		{"recovery before", foundLast, destroyAgain},                         // after a recovery, with a back-off if it is not the first
		{"approval", foundPlan, proposed(ofDeletion)},                        // before the destroy: what is proposed waits
		{"destroy", foundDestroy, destroy},
	}
}

func gitObjects(o Observation) (Decision, bool) {
	return Decision{Action: KeepGitObjects}, o.GitObjects != ""
}

func suspended(o Observation) (Decision, bool) {
	return Decision{Action: MarkSuspended}, o.Suspended
}

// recovery comes before any other run: from a state with operations in flight, Pulumi
// could create resources a second time. A recovery changes the state, so it waits while
// only previews are allowed; a preview creates nothing.
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

// recoverable starts a recovery despite a Problem with the program, which a recovery does
// not need. Until then the stack stays locked, and nobody knows what the interrupted run
// has created.
func recoverable(o Observation) (Decision, bool) {
	if o.Problem == nil || !o.Recoverable || !o.Interrupted {
		return Decision{}, false
	}
	return recovery(o)
}

// UnknownCreatesMessage names the resources, at most maxNamed of them, and says what to
// do. status.unknownCreates has them all.
func UnknownCreatesMessage(urns []string) string {
	return fmt.Sprintf("These resources may have been created: %s. Look for them at their provider, import "+
		"them into the stack or delete them, then set spec.pendingCreates: Clear", some(urns))
}

// operation returns the operation that runs the program.
func operation(o Observation) run.Operation {
	if o.Preview {
		return run.Preview
	}
	return run.Update
}

func requested(o Observation) (Decision, bool) {
	return Decision{Action: Start, Operation: operation(o)}, o.Requested || o.RunPending
}

// takenOver spares the run of inputs that another controller has applied, unless a resync
// is due. It does not apply to previews: they change nothing, and their result is the
// point.
func takenOver(o Observation) (Decision, bool) {
	if _, due := resync(o); due || o.Preview {
		return Decision{}, false
	}
	return Decision{Action: TakeOver, After: untilResync(o)}, o.AppliedElsewhere
}

// changedInputs compares with the inputs of the last attempt rather than of the last
// success: an attempt that failed half-way may have undone what the last success made, so
// going back to those inputs is a change too.
func changedInputs(o Observation) (Decision, bool) {
	return Decision{Action: Start, Operation: operation(o)}, o.Digest != o.Last.Digest
}

// outdated previews again what is shown on a pull request: after a commit that changes no input, such as
// one of the README, after an update of the Stack that is to run the change, and once the reason is gone
// that the pull request shows in place of the last preview.
func outdated(o Observation) (Decision, bool) {
	return Decision{Action: Start, Operation: operation(o)}, isNewCommit(o) || (o.Preview && (o.PreviewOutdated || o.CommentReplaced) && o.Last.Succeeded)
}

func isNewCommit(o Observation) bool {
	return o.Preview && o.ChangeRequest && o.Last.Revision != "" && o.Revision != "" && o.Revision != o.Last.Revision
}

// recovered runs the program again after a recovery: at once the first time, and then
// with a growing back-off. Inputs that are interrupted every time, such as those that
// need more memory than there is, take the controller down with them, and may each time
// create once more what they did not live to record. After a correction of drift, nothing is to
// be run again: it comes from a check.
func recovered(o Observation) (Decision, bool) {
	return retry(o, operation(o)), o.Last.Operation == run.Recover && o.Last.Succeeded && !o.Last.Applied
}

func failedBefore(o Observation) (Decision, bool) {
	return retry(o, operation(o)), !o.Last.Succeeded
}

// resyncs reports whether the Stack is run again at its interval. Not while a plan that undoes
// drift waits, if the resync were proposed as well: there is one plan at a time.
func resyncs(o Observation) bool {
	return o.ContinueResync && !(o.Approval.Required && o.Drift.Correction.Plan != nil)
}

func resync(o Observation) (Decision, bool) {
	due := resyncs(o) && o.Now.Sub(o.Last.EndedAt) >= o.Interval
	return Decision{Action: Start, Operation: operation(o)}, due
}

// untilResync is when to reconcile a Stack that is in sync again: after its interval,
// counted from the end of the last run if it is resynced.
func untilResync(o Observation) time.Duration {
	if o.Incomparable {
		return min(o.Interval, o.RetryInterval)
	}
	if !resyncs(o) {
		return o.Interval
	}
	// At most an interval, in case the clock was set back. At least a second: with
	// jitter, a reconcile may come a little early.
	return min(o.Interval, max(time.Second, o.Interval-o.Now.Sub(o.Last.EndedAt)))
}

func nothingToUndo(o Observation) (Decision, bool) {
	return Decision{Action: RemoveFinalizer}, !o.HasFinalizer || o.Suspended || o.Preview || o.NeverRan
}

// NamespaceEndsMessage says what to do when a destroy cannot be started. A namespace that
// is being deleted never accepts new objects again.
const NamespaceEndsMessage = "The namespace is being deleted and accepts no new objects, so no Job can destroy the stack. To delete the Stack and keep its " +
	"resources, set spec.destroyOnFinalize to false. To destroy them afterwards, run pulumi destroy, or create the same Stack in another namespace and delete it once it is ready"

// namespaceEnds removes the finalizer if nothing is to be destroyed, even with an
// interrupted run to recover from: no recovery can run in this namespace either.
func namespaceEnds(o Observation) (Decision, bool) {
	if !o.NamespaceEnds {
		return Decision{}, false
	}
	if !o.DestroyOnFinalize {
		return Decision{Action: RemoveFinalizer}, true
	}
	if done, ok := destroyed(o); ok {
		return done, true
	}
	return Decision{Action: Stall, Reason: v1.DestroyFailedReason, Message: NamespaceEndsMessage}, true
}

// leave removes the finalizer without a destroy. An interrupted run is recovered from
// first: nothing else would remove its lock, or name what it may have created. A Problem
// must not keep the object for ever, so without what a recovery needs, there is none; but
// a hiccup of the API server must not cost the recovery. If the recovery fails, a person
// can suspend the Stack to release it.
func leave(o Observation) (Decision, bool) {
	switch {
	case o.DestroyOnFinalize:
		return Decision{}, false
	case o.Interrupted && mayPass(o):
		return problem(o)
	case !o.Interrupted, o.Problem != nil:
		return Decision{Action: RemoveFinalizer}, true
	}
	return recovery(o)
}

// mustExist looks for a stack that another controller has updated, with a recovery, before
// anything of it is destroyed. A destroy removes the stack: after an interrupted one, a
// missing stack is known to be destroyed, and not elsewhere, only if it was found before.
func mustExist(o Observation) (Decision, bool) {
	switch {
	case !o.MustExist:
		return Decision{}, false
	case o.Last.Operation == run.Recover && !o.Last.Succeeded:
		return retry(o, run.Recover), true
	}
	return Decision{Action: Start, Operation: run.Recover}, true
}

func failedDestroy(o Observation) (Decision, bool) {
	last := o.Last.Operation
	return retry(o, run.Destroy), (last == run.Destroy || last == run.ProposeDestroy) && !o.Last.Succeeded
}

func destroyAgain(o Observation) (Decision, bool) {
	return retry(o, run.Destroy), o.Last.Operation == run.Recover && o.Last.Succeeded
}

func destroyed(o Observation) (Decision, bool) {
	return Decision{Action: RemoveFinalizer}, Destroyed(o)
}

// Destroyed reports whether the stack was destroyed, with all that is known of it.
func Destroyed(o Observation) bool {
	open := o.Interrupted || len(o.UnknownCreates) > 0
	return !open && o.Last.Operation == run.Destroy && o.Last.Succeeded
}

// ofDeletion returns the operation that a deletion is for.
func ofDeletion(Observation) run.Operation { return run.Destroy }

func destroy(o Observation) (Decision, bool) {
	return Decision{Action: Start, Operation: run.Destroy}, true
}

// String returns the decision in a word or two, for logs and tests.
func (d Decision) String() string {
	if d.Action == Start {
		return fmt.Sprintf("%s %s", d.Action, d.Operation)
	}
	return string(d.Action)
}
