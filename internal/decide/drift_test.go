// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// checked has a check for drift due, or not yet.
func checked(o *decide.Observation, in time.Duration) {
	o.Drift = decide.Drift{Found: true, NextAt: now.Add(in), LastAt: now.Add(-time.Hour)}
}

// checking has a check in flight.
func checking(o *decide.Observation) {
	checked(o, -time.Minute)
	o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, Operation: run.CheckDrift, StartedAt: now.Add(-time.Second), InBackground: true, ProgressReported: true}
}

func approvedPlan() *decide.Plan {
	return &decide.Plan{Operation: run.Update, Digest: "sha256:a", Approved: true}
}

// withCheck adds a check to the decision.
func withCheck(d decide.Decision) decide.Decision {
	d.Check = true
	return d
}

func TestAStackIsCheckedForDrift(t *testing.T) {
	stop := decide.Decision{Action: decide.StopCheck, After: 30 * time.Second}
	inSyncFor := func(after time.Duration) decide.Decision {
		return decide.Decision{Action: decide.InSync, After: after}
	}
	testNext(t, []nextCase{
		{"in sync", func(o *decide.Observation) { checked(o, 0) }, withCheck(inSyncFor(10 * time.Minute))},
		{"not yet, and before the interval", func(o *decide.Observation) { checked(o, 3*time.Minute) }, inSyncFor(3 * time.Minute)},
		{"not yet, and after the interval", func(o *decide.Observation) { checked(o, time.Hour) }, inSyncFor(10 * time.Minute)},
		{"in no time", func(o *decide.Observation) { checked(o, time.Millisecond) }, inSyncFor(time.Second)},
		{"requested", func(o *decide.Observation) {
			checked(o, time.Hour)
			o.Drift.Requested = true
		}, withCheck(inSyncFor(10 * time.Minute))},
		{"requested, without a schedule", func(o *decide.Observation) { o.Drift = decide.Drift{Found: true, Requested: true} }, withCheck(inSyncFor(10 * time.Minute))},
		{"an update may have undone the drift", func(o *decide.Observation) { o.Drift = decide.Drift{Found: true, Pending: true} }, withCheck(inSyncFor(10 * time.Minute))},

		{"suspended", func(o *decide.Observation) {
			checked(o, 0)
			o.Suspended = true
		}, withCheck(decide.Decision{Action: decide.MarkSuspended})},
		{"suspended, and not yet", func(o *decide.Observation) {
			checked(o, time.Hour)
			o.Suspended = true
		}, decide.Decision{Action: decide.MarkSuspended, After: time.Hour}},
		{"failed", func(o *decide.Observation) {
			checked(o, 0)
			failed(o, 10*time.Second)
		}, withCheck(retryIn(50 * time.Second))},
		{"stalled, although its inputs are at fault", func(o *decide.Observation) {
			checked(o, 0)
			o.Problem = &decide.Problem{Reason: "InvalidSpec", Message: "no", Terminal: true}
		}, withCheck(decide.Decision{Action: decide.Stall, Reason: "InvalidSpec", Message: "no"})},
		{"waiting for an approval", func(o *decide.Observation) {
			checked(o, 0)
			o.Last.Operation, o.Last.EndedAt = run.Propose, now
			o.Approval = decide.Approval{Required: true, Plan: &decide.Plan{Operation: run.Update, Digest: "sha256:a", Message: "1 to create"}}
		}, withCheck(decide.Decision{Action: decide.AwaitApproval, Reason: v1.ApprovalRequiredReason, Message: "1 to create", After: 10 * time.Minute})},
		{"waiting for another Stack", func(o *decide.Observation) {
			checked(o, 0)
			o.Digest, o.Unready = "sha256:new", []string{"Stack a/b is not ready"}
		}, withCheck(decide.Decision{Action: decide.Wait, Reason: "DependencyNotReady", Message: "Dependencies are not ready: Stack a/b is not ready", After: time.Minute})},

		{"a run is due first", func(o *decide.Observation) {
			checked(o, -time.Hour)
			o.Digest = "sha256:new"
		}, start(run.Update)},
		{"a requested preview is due first", func(o *decide.Observation) {
			checked(o, -time.Hour)
			o.PreviewRequested = true
		}, decide.Decision{Action: decide.PreviewOnRequest, After: 2 * time.Second}},
		{"a recovery is due first", func(o *decide.Observation) {
			checked(o, -time.Hour)
			interruptedNow(o)
			o.Interrupted = true
		}, start(run.Recover)},
		{"not with a recovery that failed", func(o *decide.Observation) {
			checked(o, -time.Hour)
			failed(o, 0)
			o.Interrupted, o.Last.Operation, o.Last.Reason = true, run.Recover, "RecoveryFailed"
		}, retryOf("RecoveryFailed", time.Minute)},
		{"not with creations of unknown outcome", func(o *decide.Observation) {
			checked(o, -time.Hour)
			o.UnknownCreates = []string{"urn:a"}
		}, decide.Decision{Action: decide.Stall, Reason: v1.PendingOperationsReason, Message: decide.UnknownCreatesMessage([]string{"urn:a"})}},
		{"not before a run has found the stack", func(o *decide.Observation) {
			checked(o, -time.Hour)
			o.Drift.Found = false
		}, inSyncFor(10 * time.Minute)},
		{"not while it is deleted", func(o *decide.Observation) {
			checked(o, -time.Hour)
			o.Deleting, o.DestroyOnFinalize = true, true
		}, start(run.Destroy)},
		{"not while another run is in flight", func(o *decide.Observation) {
			checked(o, -time.Hour)
			o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now}
		}, decide.Decision{Action: decide.Nothing, After: decide.ProgressAfter}},

		{"the first failure", func(o *decide.Observation) {
			checked(o, time.Hour)
			o.Drift.Failures, o.Drift.LastAt = 1, now.Add(-time.Minute)
		}, withCheck(inSyncFor(10 * time.Minute))},
		{"the third failure backs off", func(o *decide.Observation) {
			checked(o, time.Hour)
			o.Drift.Failures, o.Drift.LastAt = 3, now.Add(-time.Minute)
		}, inSyncFor(3 * time.Minute)},
		{"a failure after an update backs off as well", func(o *decide.Observation) {
			checked(o, time.Hour)
			o.Drift.Pending, o.Drift.Failures, o.Drift.LastAt = true, 3, now.Add(-time.Minute)
		}, inSyncFor(3 * time.Minute)},
		{"a failure after an update, without a schedule", func(o *decide.Observation) {
			o.Drift = decide.Drift{Found: true, Pending: true, Failures: 3, LastAt: now.Add(-time.Minute)}
		}, inSyncFor(3 * time.Minute)},
		{"many failures, on schedule at the latest", func(o *decide.Observation) {
			checked(o, 5*time.Minute)
			o.Drift.Failures, o.Drift.LastAt = 40, now
		}, inSyncFor(5 * time.Minute)},
		{"many failures, a year apart", func(o *decide.Observation) {
			checked(o, 365*24*time.Hour)
			o.Drift.Failures, o.Drift.LastAt = 40, now.Add(-24*time.Hour)
		}, withCheck(inSyncFor(10 * time.Minute))},
		{"a failure, before the clock was set back", func(o *decide.Observation) {
			checked(o, 365*24*time.Hour)
			o.Drift.Failures, o.Drift.LastAt = 1, now.Add(24*time.Hour)
		}, inSyncFor(time.Minute)},

		{"in flight, and nothing else is due", checking, inSyncFor(10 * time.Minute)},
		{"in flight, and a failure is reported", func(o *decide.Observation) {
			checking(o)
			o.Problem = &decide.Problem{Reason: "ArtifactFailed", Message: "gone"}
		}, decide.Decision{Action: decide.Fail, Reason: "ArtifactFailed", Message: "gone", After: time.Minute}},
		{"in flight, and there is a new revision", func(o *decide.Observation) {
			checking(o)
			o.Digest = "sha256:new"
		}, stop},
		{"in flight, and a run is requested", func(o *decide.Observation) {
			checking(o)
			o.Requested = true
		}, stop},
		{"in flight, and a preview is requested", func(o *decide.Observation) {
			checking(o)
			o.PreviewRequested = true
		}, stop},
		{"in flight, and the Stack was edited", func(o *decide.Observation) {
			checking(o)
			o.Run.Outdated = true
		}, stop},
		{"in flight, and the Stack is deleted", func(o *decide.Observation) {
			checking(o)
			o.Deleting, o.DestroyOnFinalize = true, true
		}, stop},
		{"in flight, and the Stack is deleted without a destroy", func(o *decide.Observation) {
			checking(o)
			o.Deleting = true
		}, stop},
		{"in flight, and a resync is due", func(o *decide.Observation) {
			checking(o)
			o.ContinueResync = true
		}, decide.Decision{Action: decide.Nothing}},
		{"in flight, and a retry is due", func(o *decide.Observation) {
			checking(o)
			failed(o, time.Hour)
		}, decide.Decision{Action: decide.Nothing}},
		{"in flight, and a resync is due, which does not wait for its pod", func(o *decide.Observation) {
			checking(o)
			o.ContinueResync, o.Run.Unclaimed, o.Run.StartedAt = true, true, now.Add(-time.Minute)
		}, stop},
		{"but lets the pod start", func(o *decide.Observation) {
			checking(o)
			o.ContinueResync, o.Run.Unclaimed, o.Run.StartedAt = true, true, now.Add(-20*time.Second)
		}, decide.Decision{Action: decide.Nothing, After: 40 * time.Second}},
		{"also if the clock was set back", func(o *decide.Observation) {
			checking(o)
			o.ContinueResync, o.Run.Unclaimed, o.Run.StartedAt = true, true, now.Add(time.Hour)
		}, decide.Decision{Action: decide.Nothing, After: time.Minute}},
		{"in flight without a pod, and nothing else is due", func(o *decide.Observation) {
			checking(o)
			o.Run.Unclaimed, o.Run.StartedAt = true, now.Add(-time.Hour)
		}, inSyncFor(10 * time.Minute)},
		{"in flight, and a plan is approved", func(o *decide.Observation) {
			checking(o)
			o.Last.Operation, o.Approval = run.Propose, decide.Approval{Required: true, Plan: approvedPlan()}
		}, stop},
		{"in flight, and an approved update is due again", func(o *decide.Observation) {
			checking(o)
			failed(o, time.Hour)
			o.Approval = decide.Approval{Required: true, Plan: approvedPlan()}
		}, decide.Decision{Action: decide.Nothing}},
		{"in flight, and a plan that undoes drift is approved", func(o *decide.Observation) {
			checking(o)
			o.Drift.Correction = decide.Correction{Drift: "sha256:drift", NeedsPlan: true, Plan: approvedPlan()}
		}, stop},
		{"in flight, and a plan that undoes drift waits", func(o *decide.Observation) {
			checking(o)
			o.Drift.Correction = decide.Correction{Drift: "sha256:drift", NeedsPlan: true, Plan: &decide.Plan{Operation: run.Update, Digest: "sha256:a", MadeAt: now}}
		}, inSyncFor(10 * time.Minute)},
		{"in flight, and cancelled", func(o *decide.Observation) {
			checking(o)
			o.Run.CancelAsked = true
		}, decide.Decision{Action: decide.Cancel}},
		{"ended", func(o *decide.Observation) {
			checking(o)
			o.Run.Phase, o.Digest = run.Ended, "sha256:new"
		}, decide.Decision{Action: decide.Absorb}},
		{"in flight in a process that is gone", func(o *decide.Observation) {
			checking(o)
			o.Run.Phase, o.Run.Holder = run.Unknown, decide.HolderGone
		}, decide.Decision{Action: decide.MarkInterrupted}},

		{"after the recovery from a correction", func(o *decide.Observation) {
			checked(o, 3*time.Minute)
			o.Last.Operation, o.Last.Applied = run.Recover, true
		}, inSyncFor(3 * time.Minute)},
		{"after the recovery from a correction, with other inputs", func(o *decide.Observation) {
			o.Last.Operation, o.Last.Applied, o.Digest = run.Recover, true, "sha256:new"
		}, start(run.Update)},
		{"nobody looks for drift any more", func(o *decide.Observation) { o.Drift.Left = true },
			decide.Decision{Action: decide.InSync, After: 10 * time.Minute, Duties: []decide.Duty{decide.DropDrift}}},
	})
}

func TestTheCheckForDriftIsExplained(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*decide.Observation)
		want   string
	}{
		"on schedule": {func(o *decide.Observation) { checked(o, time.Hour) }, "due at " + now.Add(time.Hour).UTC().Format(time.RFC3339)},
		"after failures": {func(o *decide.Observation) {
			checked(o, 0)
			o.Drift.Failures = 2
		}, "due at " + now.Add(-58*time.Minute).UTC().Format(time.RFC3339) + ", after 2 that failed"},
		"requested": {func(o *decide.Observation) { o.Drift = decide.Drift{Found: true, Requested: true} }, "one is requested"},
		"pending":   {func(o *decide.Observation) { o.Drift = decide.Drift{Found: true, Pending: true} }, "due, as an update or an edit may have changed what has drifted"},
		"in flight": {checking, "in flight"},
		"not found": {func(o *decide.Observation) {
			checked(o, 0)
			o.Drift.Found = false
		}, "not before a run has found the stack"},
		"interrupted": {func(o *decide.Observation) {
			checked(o, 0)
			o.Interrupted = true
		}, "not before the interrupted run is recovered, or of a Stack that is deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := inSync()
			test.change(&o)
			_, checks := decide.Explain(o)
			g.Expect(checks[0]).To(Equal(decide.Check{About: "check for drift", Found: test.want}))
		})
	}
	_, checks := decide.Explain(inSync())
	NewWithT(t).Expect(checks[0].About).To(Equal(decide.AboutRun), "a Stack that is not checked says nothing of it")
}
