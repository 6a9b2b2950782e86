// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"slices"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// holderPatience is when to look again whether another process still holds a
// run: nothing tells of its end.
const holderPatience = 10 * time.Second

func runRecorded(o Observation) (Decision, bool) {
	switch {
	case o.Run == nil:
		return Decision{}, false
	case o.Run.Phase == run.Running:
		return inFlight(o), true
	case o.Run.Phase == run.Ended:
		return Decision{Action: Absorb}, true
	case o.Run.Holder == HeldHere:
		// The runner of this process has never heard of it: the record was
		// written and the start was refused.
		return Decision{Action: Withdraw}, true
	case o.Run.Holder == HolderGone:
		return Decision{Action: Lose}, true
	case o.Run.Released:
		return Decision{Action: Release}, true
	case o.Run.Unproven != "":
		return Decision{Action: Fail, Reason: v1.WorkspaceFailedReason, Message: o.Run.Unproven, After: holderPatience}, true
	default:
		return Decision{Action: Nothing, After: holderPatience}, true
	}
}

// ProgressAfter is how long a run is in flight before the status tells how far it
// has come. Most runs have ended by then, and cost no write for it.
const ProgressAfter = 10 * time.Second

// progressEvery is how often a run is told of that takes long. Each line is a write,
// and wakes all who watch; the log has all of it at once.
const progressEvery = time.Minute

// progressStep is how long it is from one line on a run to the next, zero for none. It
// doubles up to progressEvery, so that the shorter runs, which are the most, take few
// writes.
func progressStep(running *Run) time.Duration {
	if !running.Told {
		return ProgressAfter
	}
	return min(running.ToldAfter, progressEvery)
}

// podAllowance is how long a run may wait for its pod before an edit of the Stack ends the
// wait. Most pods start sooner, and are not started in vain by two edits in a row.
const podAllowance = time.Minute

// inFlight tells of a long run now and then, and calls one off that waits for its pod in
// vain: nothing is lost, and the edit may be what mends it.
func inFlight(o Observation) Decision {
	took := o.Now.Sub(o.Run.StartedAt)
	switch {
	case o.Run.CancelAsked:
		return Decision{Action: Cancel}
	case o.Run.Withdrawable && took >= podAllowance:
		return Decision{Action: CallOff, After: progressEvery}
	}
	d := tellOf(o, took)
	if wait := min(podAllowance-took, podAllowance); o.Run.Withdrawable && (d.After == 0 || d.After > wait) {
		d.After = wait
	}
	return d
}

// tellOf tells of the run in time.
func tellOf(o Observation, took time.Duration) Decision {
	step := progressStep(o.Run)
	wait := o.Run.ToldAfter + step - took
	if step > 0 && wait <= 0 {
		return Decision{Action: Tell, After: min(took, progressEvery)}
	}
	d := Decision{Action: Nothing}
	if hasUnnamed(o) {
		// Not at the end of the run: who knows of them may be gone by then.
		d.Action = NameCreates
	}
	if step > 0 {
		// Never longer, if a clock was set back.
		d.After = min(wait, step)
	}
	return d
}

// hasUnnamed tells that the run in flight has left creations of unknown outcome that
// the status does not name.
func hasUnnamed(o Observation) bool {
	return slices.ContainsFunc(o.Run.UnknownCreates, func(urn string) bool { return !slices.Contains(o.UnknownCreates, urn) })
}
