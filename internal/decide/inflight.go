// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"slices"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// holderPatience is when to look again whether another process still holds a run: no
// event reports when it ends.
const holderPatience = 10 * time.Second

func runRecorded(o Observation) (Decision, bool) {
	switch {
	case o.Run == nil, isChecking(o):
		return Decision{}, false
	case o.Run.Phase == run.Running && o.Run.UnprovenJob && o.Run.Released && o.Run.Holder == HeldElsewhere:
		return Decision{Action: Release}, true
	case o.Run.Phase == run.Running:
		return inFlight(o), true
	case o.Run.Phase == run.Ended:
		return Decision{Action: Absorb}, true
	case o.Run.Holder == HeldHere:
		// The record was written, but the start was refused: the runner of this process
		// does not know the run.
		return Decision{Action: DropRecord}, true
	case o.Run.Holder == HolderGone:
		return Decision{Action: MarkInterrupted}, true
	case o.Run.Released:
		return Decision{Action: Release}, true
	case o.Run.InBackground:
		// It changes nothing and has no lock, so it does not matter whether its holder is
		// alive: all runs of the Stack would wait for that, and nothing would say why.
		return Decision{Action: MarkInterrupted}, true
	case o.Run.Unproven != "":
		return Decision{Action: Fail, Reason: v1.WorkspaceFailedReason, Message: o.Run.Unproven, After: holderPatience}, true
	default:
		return Decision{Action: MarkHeldElsewhere, After: holderPatience}, true
	}
}

// ProgressAfter is the age of a run at which the status first reports its progress. Most
// runs have ended by then, and cost no write.
const ProgressAfter = 10 * time.Second

// progressEvery is the longest time between two updates of the progress. Each is a write,
// and wakes all watches; the log has every step at once.
const progressEvery = time.Minute

// progressStep is the time until the next update of the progress, zero for none. It
// doubles up to progressEvery, so that short runs, which are the most, cost few writes.
func progressStep(running *Run) time.Duration {
	if !running.ProgressReported {
		return ProgressAfter
	}
	return min(running.ReportedAfter, progressEvery)
}

// podAllowance is how long a run may wait for its pod before an edit of the Stack withdraws
// it, and a check for drift before it is stopped for anything else. Most pods start sooner, and
// two edits in a row should not start two for nothing.
// A plan that is not approved any more is not applied meanwhile, and no program runs with the
// policy packs of the past.
const podAllowance = time.Minute

// inFlight passes a request to cancel on, withdraws a run that waits for its pod in vain,
// and reports the progress of long runs. Withdrawing it loses nothing, and the edit may be
// what makes the pod start.
func inFlight(o Observation) Decision {
	took := o.Now.Sub(o.Run.StartedAt)
	switch {
	case o.Run.CancelAsked:
		return Decision{Action: Cancel}
	case o.Run.Unclaimed && o.Run.OtherPacks, o.Run.Withdrawable && (o.Run.Unapproved || took >= podAllowance):
		return Decision{Action: Withdraw, After: progressEvery}
	}
	d := progressOf(o, took)
	if o.Run.Unclaimed && o.Run.UnknownPacks {
		d = d.within(unavailableBackoff)
	}
	if o.Run.Withdrawable {
		return d.within(o.remaining(podAllowance, o.Run.StartedAt))
	}
	return d
}

// progressOf reports the progress of a run when the time for it has come.
func progressOf(o Observation, took time.Duration) Decision {
	step := progressStep(o.Run)
	wait := o.Run.ReportedAfter + step - took
	if step > 0 && wait <= 0 {
		return Decision{Action: ReportProgress, After: min(max(took, time.Second), progressEvery)} // the clock may have been set back
	}
	d := Decision{Action: Nothing}
	if o.Run.FoundMore || hasUnrecordedCreates(o) {
		// Now rather than at the end of the run: the process that knows them may be gone
		// by then.
		d.Action = RecordFindings
	}
	if step > 0 {
		// At most the step, in case the clock was set back.
		d.After = min(wait, step)
	}
	return d
}

// hasUnrecordedCreates reports whether the run in flight has creations of unknown outcome
// that the status does not name yet.
func hasUnrecordedCreates(o Observation) bool {
	return slices.ContainsFunc(o.Run.UnknownCreates, func(urn string) bool { return !slices.Contains(o.UnknownCreates, urn) })
}
