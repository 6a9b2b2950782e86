// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"fmt"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// aboutDrift names the check of what is due for drift.
const aboutDrift = "check for drift"

// Drift is what is decided on of drift. The zero value is a Stack that is not checked for it.
type Drift struct {
	// Found reports whether a run has found the stack, so that there is something to check.
	Found bool
	// Requested reports whether a check is asked for, and Pending whether an update may have
	// undone the drift, or an edit has changed what of it is to be corrected.
	Requested, Pending bool
	// NextAt is when the next check is due on schedule, zero if there is none.
	NextAt time.Time
	// LastAt is when the last check ended, and Failures how many in a row have failed.
	LastAt   time.Time
	Failures int64
	// Correction is what is to follow from the drift.
	Correction Correction
	// Unscheduled reports whether it is to be recorded since when the Stack is to be checked.
	Unscheduled bool
	// Left reports whether the status has what spec.drift no longer asks for.
	Left bool
}

// Correction is an update that undoes drift. The zero value is none.
type Correction struct {
	// Drift is the digest of the drift.
	Drift string
	// NeedsPlan reports whether it is proposed first, and Plan is what is proposed, nil if
	// nothing is.
	NeedsPlan bool
	Plan      *Plan
	// Failures is how many attempts in a row could not run, Reason why the last could not, and
	// LastAt when that ended.
	Failures int64
	Reason   string
	LastAt   time.Time
}

// correctDrift undoes drift once nothing else is to be done: the last update has succeeded with
// the current inputs. A plan that waits for its approval is no reason not to be in sync.
func correctDrift(o Observation, d Decision) Decision {
	c := o.Drift.Correction
	if d.Action != InSync || c.Drift == "" || o.Preview || !mayCheck(o) {
		return d
	}
	due := correction(o, d)
	if due.Action != Start || c.Failures == 0 {
		return due
	}
	if wait := o.remaining(delayAfter(o, c.Reason, c.Failures), c.LastAt); wait > 0 {
		return d.within(max(time.Second, wait))
	}
	return due
}

// correction is the next step towards undoing the drift, d if there is none.
func correction(o Observation, d Decision) Decision {
	c := o.Drift.Correction
	switch p := c.Plan; {
	case !c.NeedsPlan:
		return Decision{Action: Start, Operation: run.Update, Drift: c.Drift}
	case p == nil:
		return Decision{Action: Start, Operation: run.Propose, Drift: c.Drift}
	case p.isApproved():
		return Decision{Action: Start, Operation: run.Update, Drift: c.Drift, Approved: p.Digest}
	case !p.Rejected && (p.Unwritten || p.MadeAt.Before(o.Drift.LastAt)):
		return proposeAgain(o, d)
	}
	return d
}

// proposeAgain makes the plan again whose details could not be written, or that is older than the last
// check: the state may have changed, and its details may be gone.
func proposeAgain(o Observation, d Decision) Decision {
	again := o.Now.Add(o.remaining(o.RetryInterval, o.Drift.Correction.Plan.MadeAt))
	later, isDue := d.until(o, again)
	if isDue {
		return Decision{Action: Start, Operation: run.Propose, Drift: o.Drift.Correction.Drift}
	}
	return later
}

// checkBetween checks for drift between two runs, beside the action. A run that is due comes
// first. A Stack that is suspended, has failed or waits for something is checked all the same.
func checkBetween(o Observation, due Decision) Decision {
	if o.Run != nil {
		return due
	}
	at := checkAt(o)
	if at.IsZero() || !mayCheck(o) || startsNext(due) {
		return due
	}
	due, isDue := due.until(o, at)
	due.Check = isDue
	return due
}

// mayCheck reports whether the state can be compared with the resources: it is known where it
// is, and nothing is in flight in it.
func mayCheck(o Observation) bool {
	return o.Drift.Found && !o.Deleting && !o.Interrupted && len(o.UnknownCreates) == 0
}

// startsNext reports whether something else than a check is about to happen to the stack.
func startsNext(due Decision) bool {
	switch due.Action {
	case Start, PreviewOnRequest, RemoveFinalizer, KeepGitObjects, TakeOver:
		return true
	}
	return false
}

// checkAt is when the next check is due, zero if none is. One that has failed is repeated with
// a growing back-off, and on schedule at the latest.
func checkAt(o Observation) time.Time {
	d := o.Drift
	switch {
	case d.Requested, d.Pending && d.Failures == 0:
		return o.Now
	case d.Failures == 0, d.NextAt.IsZero() && !d.Pending:
		return d.NextAt
	}
	if again := o.afterFailedChecks(d.Failures, d.LastAt); d.NextAt.IsZero() || again.Before(d.NextAt) {
		return again
	}
	return d.NextAt
}

// isInFlight reports whether a check of the kind is in flight.
func isInFlight(o Observation, operation run.Operation) bool {
	return isChecking(o) && o.Run.Operation == operation
}

// isChecking reports whether a check is in flight, which holds up nothing.
func isChecking(o Observation) bool {
	return o.Run != nil && o.Run.InBackground && o.Run.Phase == run.Running && !o.Run.CancelAsked && !o.Run.UnprovenJob
}

// stopCheck stops a check in flight for what has become due since it started. It repeats
// nothing that is not repeated anyway: a retry and a resync wait for its end, as they could
// otherwise stop one check after the other. They do not wait for its pod, which may never start.
func stopCheck(o Observation, due Decision) Decision {
	if !isChecking(o) {
		return due
	}
	stop := Decision{Action: StopCheck, After: placePatience}
	switch {
	case o.Deleting, o.PreviewRequested, o.Run.Outdated, due.Action == Start && isNews(o, due):
		return stop
	case !startsNext(due), due.Action == KeepGitObjects:
		return due
	case !o.Run.Unclaimed:
		return Decision{Action: Nothing}
	}
	if wait := o.remaining(podAllowance, o.Run.StartedAt); wait > 0 {
		return Decision{Action: Nothing, After: wait}
	}
	return stop
}

// isNews reports whether a run is due that does not repeat the last one: someone asks for it or
// has approved it, or it has other inputs.
func isNews(o Observation, due Decision) bool {
	approved := due.Approved != "" && (due.Drift != "" || o.Last.Operation == run.ProposalOf(due.Operation))
	_, isOther := outdated(o)
	return approved || o.Requested || o.RunPending || o.Digest != o.Last.Digest || isOther || mended(o)
}

func foundDrift(o Observation) string {
	d, at := o.Drift, checkAt(o)
	switch {
	case isInFlight(o, run.CheckDrift):
		return "in flight"
	case at.IsZero():
		return "none is due"
	case !d.Found:
		return "not before a run has found the stack"
	case !mayCheck(o):
		return "not before the interrupted run is recovered, or of a Stack that is deleted"
	case d.Requested:
		return "one is requested"
	case d.Pending && d.Failures == 0:
		return "due, as an update or an edit may have changed what has drifted"
	}
	text := "due at " + stamp(at)
	if d.Failures > 0 {
		text += fmt.Sprintf(", after %d that failed", d.Failures)
	}
	return text
}
