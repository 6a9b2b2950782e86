// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestNextOfARunInFlight(t *testing.T) {
	testNext(t, []nextCase{
		{"a run in flight is looked at when it has taken ten seconds",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-4 * time.Second)}
			},
			decide.Decision{Action: decide.Nothing, After: 6 * time.Second}},
		{"it is never looked at later than that, if a clock was set back",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(time.Hour)}
			},
			decide.Decision{Action: decide.Nothing, After: 10 * time.Second}},
		{"the progress of a long run is reported",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-10 * time.Second)}
			},
			decide.Decision{Action: decide.ReportProgress, After: 10 * time.Second}},
		{"and again when it has taken twice as long",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-25 * time.Second), ProgressReported: true, ReportedAfter: 20 * time.Second}
			},
			decide.Decision{Action: decide.Nothing, After: 15 * time.Second}},
		{"which is then",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-41 * time.Second), ProgressReported: true, ReportedAfter: 20 * time.Second}
			},
			decide.Decision{Action: decide.ReportProgress, After: 41 * time.Second}},
		{"and once a minute when it takes long",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-time.Hour), ProgressReported: true, ReportedAfter: time.Hour - 40*time.Second}
			},
			decide.Decision{Action: decide.Nothing, After: 20 * time.Second}},
		{"and sooner when it waits for another thing",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-11 * time.Minute), ReportedAfter: 11*time.Minute - 10*time.Second}
			},
			decide.Decision{Action: decide.ReportProgress, After: time.Minute}},
		{"it is not put off for more than a minute, if a clock was set back",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(time.Hour), ProgressReported: true, ReportedAfter: time.Hour}
			},
			decide.Decision{Action: decide.Nothing, After: time.Minute}},
		{"what tells of another thing is left as it is",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-time.Hour), ProgressReported: true}
			},
			decide.Decision{Action: decide.Nothing}},
		{"a run whose holder may live is lost where a person says that it is gone",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldElsewhere, Released: true}
			},
			decide.Decision{Action: decide.Release}},
		{"and also where the Stack is suspended, or deleted",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldElsewhere, Released: true}
				o.Suspended, o.Deleting, o.HasFinalizer, o.DestroyOnFinalize = true, true, true, true
			},
			decide.Decision{Action: decide.Release}},
		{"where its holder is proven to be gone nobody has to say so",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HolderGone, Released: true}
			},
			decide.Decision{Action: decide.MarkInterrupted}},
		{"a run that is in flight here is not released, whatever anybody says",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, ProgressReported: true, Released: true}
			},
			decide.Decision{Action: decide.Nothing}},
		{"but one is whose Job cannot be seen, where a person says that it is gone",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldElsewhere, ProgressReported: true, UnprovenJob: true, Released: true}
			},
			decide.Decision{Action: decide.Release}},
		{"which is waited for until then",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldElsewhere, ProgressReported: true, UnprovenJob: true}
			},
			decide.Decision{Action: decide.Nothing}},
		{"and one whose Job can be seen is not released",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldElsewhere, ProgressReported: true, Released: true}
			},
			decide.Decision{Action: decide.Nothing}},
		{"one that was never started is withdrawn",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldHere, Released: true}
			},
			decide.Decision{Action: decide.DropRecord}},
		{"a result that is there is absorbed",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Ended, Holder: decide.HeldElsewhere, Released: true}
			},
			decide.Decision{Action: decide.Absorb}},
		{"a creation of unknown outcome is named while the run continues, and its progress still reported in time",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-4 * time.Second), UnknownCreates: []string{"urn:a"}}
			},
			decide.Decision{Action: decide.RecordFindings, After: 6 * time.Second}},
		{"where the stack was found is noted while the run continues",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, ProgressReported: true, FoundMore: true}
			},
			decide.Decision{Action: decide.RecordFindings}},
		{"one more is named beside those that are",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, ProgressReported: true, UnknownCreates: []string{"urn:a", "urn:b"}}
				o.UnknownCreates = []string{"urn:a"}
			},
			decide.Decision{Action: decide.RecordFindings}},
		{"what is named is not named again",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, ProgressReported: true, UnknownCreates: []string{"urn:b"}}
				o.UnknownCreates = []string{"urn:a", "urn:b"}
			},
			decide.Decision{Action: decide.Nothing}},
		{"what is named while its progress is reported takes one write",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-10 * time.Second), UnknownCreates: []string{"urn:a"}}
			},
			decide.Decision{Action: decide.ReportProgress, After: 10 * time.Second}},
		{"a run in flight is not cut by other inputs",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, ProgressReported: true}
				o.Digest = "sha256:new"
			},
			decide.Decision{Action: decide.Nothing}},
		{"a run that no pod has started is called off when the Stack was edited",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-time.Minute), Withdrawable: true}
			},
			decide.Decision{Action: decide.Withdraw, After: time.Minute}},
		{"or deleted, or suspended",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-time.Hour), Withdrawable: true, ProgressReported: true}
				o.Deleting, o.HasFinalizer, o.DestroyOnFinalize, o.Suspended = true, true, true, true
			},
			decide.Decision{Action: decide.Withdraw, After: time.Minute}},
		{"but has its time to start",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-10 * time.Second), Withdrawable: true, ProgressReported: true}
			},
			decide.Decision{Action: decide.Nothing, After: 50 * time.Second}},
		{"unless the plan that it applies is not approved any more",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-10 * time.Second), Withdrawable: true, Unapproved: true}
			},
			decide.Decision{Action: decide.Withdraw, After: time.Minute}},
		{"which ends no run that a pod has started",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-time.Hour), Unapproved: true}
			},
			decide.Decision{Action: decide.ReportProgress, After: time.Minute}},
		{"and is cancelled where someone asks for that",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-time.Hour), Withdrawable: true, CancelAsked: true}
			},
			decide.Decision{Action: decide.Cancel}},
		{"a run in flight is not cut by a deletion",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, ProgressReported: true}
				o.Deleting, o.DestroyOnFinalize = true, true
			},
			decide.Decision{Action: decide.Nothing}},
		{"the result of a run is absorbed also when the Stack is suspended",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Ended, Holder: decide.HeldHere}
				o.Suspended = true
			},
			decide.Decision{Action: decide.Absorb}},
		{"the result of a run that another process recorded is absorbed where it is found",
			func(o *decide.Observation) { o.Run = &decide.Run{Phase: run.Ended, Holder: decide.HeldElsewhere} },
			decide.Decision{Action: decide.Absorb}},
		{"a run that this process recorded and never started is withdrawn",
			func(o *decide.Observation) { o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldHere} },
			decide.Decision{Action: decide.DropRecord}},
		{"a run that a process recorded which is gone is lost",
			func(o *decide.Observation) { o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HolderGone} },
			decide.Decision{Action: decide.MarkInterrupted}},
		{"a run that a process recorded which may be alive is left to it",
			func(o *decide.Observation) { o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldElsewhere} },
			decide.Decision{Action: decide.MarkHeldElsewhere, After: 10 * time.Second}},
		{"a check for drift is not: it has no lock and changes nothing",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldElsewhere, InBackground: true}
			},
			decide.Decision{Action: decide.MarkInterrupted}},
		{"also if nobody can find out whether its process is alive",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldElsewhere, InBackground: true, Unproven: "no data directory"}
			},
			decide.Decision{Action: decide.MarkInterrupted}},
		{"a run is reported if nobody can find out whether its process is alive",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldElsewhere, Unproven: "no data directory"}
			},
			decide.Decision{Action: decide.Fail, Reason: "WorkspaceFailed", Message: "no data directory", After: 10 * time.Second}},
		{"and lost all the same where a person says that the process is gone",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldElsewhere, Unproven: "no data directory", Released: true}
			},
			decide.Decision{Action: decide.Release}},
	})
}
