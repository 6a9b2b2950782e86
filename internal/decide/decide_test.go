// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// inSync is a Stack that has nothing to do. Each row of a table changes it.
func inSync() decide.Observation {
	return decide.Observation{
		HasFinalizer:  true,
		Interval:      10 * time.Minute,
		RetryInterval: time.Minute,
		Digest:        "sha256:applied",
		Last: decide.LastRun{
			Operation: run.Update,
			Digest:    "sha256:applied",
			Succeeded: true,
			EndedAt:   now.Add(-time.Hour),
		},
		Now: now,
	}
}

func failed(o *decide.Observation, ago time.Duration) {
	o.Last.Succeeded = false
	o.Last.Reason = "UpdateFailed"
	o.Last.Message = "no such bucket"
	o.Last.EndedAt = now.Add(-ago)
}

// failedBy is a failure 4 seconds ago, the last one of so many.
func failedBy(reason string, failures int64) func(*decide.Observation) {
	return func(o *decide.Observation) {
		failed(o, 4*time.Second)
		o.Last.Reason, o.Failures = reason, failures
	}
}

func interruptedNow(o *decide.Observation) {
	failed(o, 0)
	o.Last.Reason = v1.RunInterruptedReason
}

// nextCase changes a Stack that is in sync, and says what is decided then.
type nextCase struct {
	name   string
	change func(o *decide.Observation)
	want   decide.Decision
}

func testNext(t *testing.T, cases []nextCase) {
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			o := inSync()
			tt.change(&o)
			g.Expect(decide.Next(o)).To(Equal(tt.want))
		})
	}
}

func start(op run.Operation) decide.Decision {
	return decide.Decision{Action: decide.Start, Operation: op}
}

func retryIn(d time.Duration) decide.Decision { return retryOf("UpdateFailed", d) }

func retryOf(reason string, d time.Duration) decide.Decision {
	return decide.Decision{Action: decide.Fail, Reason: reason, Message: "no such bucket", After: d}
}

func TestNext(t *testing.T) {
	testNext(t, []nextCase{
		{"a Stack with nothing new is in sync until its interval",
			func(*decide.Observation) {},
			decide.Decision{Action: decide.InSync, After: 10 * time.Minute}},
		{"a Stack that never ran is run",
			func(o *decide.Observation) { o.Last = decide.LastRun{}; o.HasFinalizer = false },
			start(run.Update)},
		{"other inputs are run at once",
			func(o *decide.Observation) { o.Digest = "sha256:new" },
			start(run.Update)},
		{"other inputs are run at once also after a failure",
			func(o *decide.Observation) { failed(o, time.Second); o.Digest = "sha256:new" },
			start(run.Update)},
		{"going back to inputs that were applied before a failed attempt is a change",
			func(o *decide.Observation) { failed(o, time.Second); o.Last.Digest = "sha256:bad" },
			start(run.Update)},
		{"a failure is tried again at once when the spec was edited",
			func(o *decide.Observation) { failed(o, time.Second); o.Edited = true },
			start(run.Update)},
		{"a failure is not tried again before the retry interval, and says again what failed",
			func(o *decide.Observation) { failed(o, 20*time.Second) },
			retryIn(40 * time.Second)},
		{"a failure is tried again when the retry interval has passed",
			func(o *decide.Observation) { failed(o, time.Minute) },
			start(run.Update)},
		{"a failure waits for no longer than the retry interval when the clock was set back",
			func(o *decide.Observation) { failed(o, -time.Hour) },
			retryIn(time.Minute)},
		{"a request does not wait for the retry interval",
			func(o *decide.Observation) { failed(o, time.Second); o.Requested = true },
			start(run.Update)},
		{"a run that was cancelled is run again at once",
			func(o *decide.Observation) { failed(o, time.Second); o.Last.Reason = v1.RunCancelledReason },
			start(run.Update)},
		{"a request runs a Stack that is in sync",
			func(o *decide.Observation) { o.Requested = true },
			start(run.Update)},
		{"a run that is owed does not wait for the retry interval",
			func(o *decide.Observation) { failed(o, time.Second); o.RunPending = true },
			start(run.Update)},
		{"nor for an edit",
			func(o *decide.Observation) { o.RunPending = true },
			start(run.Update)},
		{"a suspended Stack owes no run",
			func(o *decide.Observation) { o.Suspended, o.RunPending = true, true },
			decide.Decision{Action: decide.MarkSuspended}},
		{"a run that is owed hurries no recovery",
			func(o *decide.Observation) {
				failed(o, 20*time.Second)
				o.Interrupted, o.RunPending, o.Last.Operation = true, true, run.Recover
			},
			retryIn(40 * time.Second)},
		{"a suspended Stack is left alone whatever has changed",
			func(o *decide.Observation) { o.Suspended = true; o.Requested = true; o.Digest = "sha256:new" },
			decide.Decision{Action: decide.MarkSuspended}},
		{"the objects for spec.projectRepo are kept before anything else that depends on the program",
			func(o *decide.Observation) {
				o.GitObjects, o.Requested = "write GitRepository a/b", true
				o.Problem = &decide.Problem{Reason: "ArtifactFailed", Message: "not fetched yet", Fetching: true}
			},
			decide.Decision{Action: decide.KeepGitObjects}},
		{"also before a preview on request",
			func(o *decide.Observation) { o.GitObjects, o.PreviewRequested = "write GitRepository a/b", true },
			decide.Decision{Action: decide.KeepGitObjects}},
		{"also of a suspended Stack, which is to stop polling",
			func(o *decide.Observation) { o.GitObjects, o.Suspended = "suspend GitRepository a/b", true },
			decide.Decision{Action: decide.KeepGitObjects}},
		{"also before a destroy",
			func(o *decide.Observation) {
				o.GitObjects, o.Deleting, o.DestroyOnFinalize = "write GitRepository a/b", true, true
			},
			decide.Decision{Action: decide.KeepGitObjects}},
		{"a problem is reported and looked at again",
			func(o *decide.Observation) {
				o.Problem = &decide.Problem{Reason: "ArtifactFailed", Message: "gone"}
			},
			decide.Decision{Action: decide.Fail, Reason: "ArtifactFailed", Message: "gone", After: time.Minute}},
		{"a problem that may pass by itself is looked at again after 10 seconds",
			func(o *decide.Observation) {
				o.Problem = &decide.Problem{Reason: "ServiceAccountFailed", Message: "gone", Since: now}
			},
			decide.Decision{Action: decide.Fail, Reason: "ServiceAccountFailed", Message: "gone", After: 10 * time.Second}},
		{"and then after as long again as it has been there",
			func(o *decide.Observation) {
				o.Problem = &decide.Problem{Reason: "ServiceAccountFailed", Message: "gone", Since: now.Add(-25 * time.Second)}
			},
			decide.Decision{Action: decide.Fail, Reason: "ServiceAccountFailed", Message: "gone", After: 25 * time.Second}},
		{"and never later than the retry interval",
			func(o *decide.Observation) {
				o.Problem = &decide.Problem{Reason: "ServiceAccountFailed", Message: "gone", Since: now.Add(-time.Hour)}
			},
			decide.Decision{Action: decide.Fail, Reason: "ServiceAccountFailed", Message: "gone", After: time.Minute}},
		{"a problem that only an edit mends is not looked at again",
			func(o *decide.Observation) {
				o.Problem = &decide.Problem{Reason: "InvalidSpec", Message: "two sources", Terminal: true}
			},
			decide.Decision{Action: decide.Stall, Reason: "InvalidSpec", Message: "two sources"}},
		{"a problem comes before a request",
			func(o *decide.Observation) {
				o.Requested = true
				o.Problem = &decide.Problem{Reason: "ArtifactFailed", Message: "gone"}
			},
			decide.Decision{Action: decide.Fail, Reason: "ArtifactFailed", Message: "gone", After: time.Minute}},

		{"a backend out of reach is tried again after 10 seconds",
			failedBy(v1.BackendUnavailableReason, 1),
			retryOf(v1.BackendUnavailableReason, 6*time.Second)},
		{"so is a registry",
			failedBy(v1.RegistryUnavailableReason, 1),
			retryOf(v1.RegistryUnavailableReason, 6*time.Second)},
		{"a token that could not be made",
			failedBy(v1.ServiceAccountFailedReason, 1),
			retryOf(v1.ServiceAccountFailedReason, 6*time.Second)},
		{"a pod that failed",
			failedBy(v1.PodFailedReason, 1),
			retryOf(v1.PodFailedReason, 6*time.Second)},
		{"and an artifact",
			failedBy(meta.ArtifactFailedReason, 1),
			retryOf(meta.ArtifactFailedReason, 6*time.Second)},
		{"and then after twice as long each time",
			failedBy(v1.BackendUnavailableReason, 3),
			retryOf(v1.BackendUnavailableReason, 36*time.Second)},
		{"and never later than the retry interval",
			failedBy(v1.BackendUnavailableReason, 1<<60),
			retryOf(v1.BackendUnavailableReason, 56*time.Second)},
		{"and then it is tried again",
			func(o *decide.Observation) {
				failed(o, 10*time.Second)
				o.Last.Reason, o.Failures = v1.BackendUnavailableReason, 1
			},
			start(run.Update)},
		{"an artifact that is gone, and still offered, is tried again without a failure",
			failedBy(v1.ArtifactGoneReason, 1),
			func() decide.Decision {
				d := retryOf(v1.ArtifactGoneReason, 6*time.Second)
				d.Awaited, d.Fetching = true, true
				return d
			}()},
		{"the artifact that its source offers next does not wait",
			func(o *decide.Observation) {
				failed(o, time.Second)
				o.Last.Reason, o.Failures, o.Digest = v1.ArtifactGoneReason, 1, "sha256:new"
			},
			start(run.Update)},
		{"a retry interval that is shorter than the backoff is kept",
			func(o *decide.Observation) {
				failed(o, time.Second)
				o.Last.Reason, o.Failures, o.RetryInterval = v1.BackendUnavailableReason, 1, 3*time.Second
			},
			retryOf(v1.BackendUnavailableReason, 2*time.Second)},
		{"a destroy whose backend is out of reach is tried again soon",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				failed(o, 4*time.Second)
				o.Last.Operation, o.Last.Reason, o.Failures = run.Destroy, v1.BackendUnavailableReason, 1
			},
			retryOf(v1.BackendUnavailableReason, 6*time.Second)},
		{"a foreign lock is waited for at the retry interval",
			func(o *decide.Observation) {
				failed(o, 20*time.Second)
				o.Last.Reason, o.Failures = v1.StackLockedReason, 1
			},
			retryOf(v1.StackLockedReason, 40*time.Second)},
		{"and sooner where the spec asks for it",
			func(o *decide.Observation) {
				failed(o, time.Second)
				o.Last.Reason, o.RetryConflict, o.Failures = v1.StackLockedReason, true, 2
			},
			retryOf(v1.StackLockedReason, 9*time.Second)},
		{"a spec that asks for something impossible is stalled until the retry interval has passed",
			func(o *decide.Observation) {
				failed(o, 20*time.Second)
				o.Last.Reason, o.Last.Message = v1.InvalidSpecReason, "no such policy"
			},
			decide.Decision{Action: decide.Stall, Reason: "InvalidSpec", Message: "no such policy", After: 40 * time.Second}},
		{"or someone edits it",
			func(o *decide.Observation) {
				failed(o, 20*time.Second)
				o.Last.Reason, o.Edited = v1.InvalidSpecReason, true
			},
			start(run.Update)},
		{"retrying conflicts is about locks alone",
			func(o *decide.Observation) { failed(o, 20*time.Second); o.RetryConflict, o.Failures = true, 1 },
			retryIn(40 * time.Second)},

		{"a Stack that is run at each interval is run when it has passed",
			func(o *decide.Observation) { o.ContinueResync = true; o.Last.EndedAt = now.Add(-10 * time.Minute) },
			start(run.Update)},
		{"and is in sync for what is left of it",
			func(o *decide.Observation) { o.ContinueResync = true; o.Last.EndedAt = now.Add(-4 * time.Minute) },
			decide.Decision{Action: decide.InSync, After: 6 * time.Minute}},
		{"and is not looked at again within the second",
			func(o *decide.Observation) {
				o.ContinueResync = true
				o.Last.EndedAt = now.Add(time.Nanosecond - 10*time.Minute)
			},
			decide.Decision{Action: decide.InSync, After: time.Second}},
		{"and for no longer than the interval when the clock was set back",
			func(o *decide.Observation) { o.ContinueResync = true; o.Last.EndedAt = now.Add(time.Hour) },
			decide.Decision{Action: decide.InSync, After: 10 * time.Minute}},
		{"a failure is tried again at the retry interval, whatever the interval",
			func(o *decide.Observation) {
				failed(o, 20*time.Second)
				o.ContinueResync, o.Interval = true, time.Second
			},
			retryIn(40 * time.Second)},
		{"a suspended Stack is not run at its interval",
			func(o *decide.Observation) { o.ContinueResync, o.Suspended = true, true },
			decide.Decision{Action: decide.MarkSuspended}},

		{"a Stack that only previews is previewed",
			func(o *decide.Observation) { o.Preview = true; o.Digest = "sha256:new" },
			start(run.Preview)},
		{"and again when someone asks",
			func(o *decide.Observation) { o.Preview, o.Requested = true, true },
			start(run.Preview)},
		{"and again at each interval where the spec asks for it",
			func(o *decide.Observation) { o.Preview, o.ContinueResync = true, true },
			start(run.Preview)},
		{"and again after a failure",
			func(o *decide.Observation) { failed(o, time.Minute); o.Preview, o.Last.Operation = true, run.Preview },
			start(run.Preview)},
		{"a preview does not recover what an update left, which would change the state",
			func(o *decide.Observation) {
				o.Preview, o.Interrupted, o.Digest = true, true, "sha256:new"
				o.UnknownCreates = []string{"urn:a"}
			},
			start(run.Preview)},
		{"a deleted Stack that only previews is released, and nothing is destroyed",
			func(o *decide.Observation) { o.Preview, o.Deleting, o.DestroyOnFinalize = true, true, true },
			decide.Decision{Action: decide.RemoveFinalizer}},

		{"what another controller applied is taken over",
			func(o *decide.Observation) { o.Digest, o.AppliedElsewhere = "sha256:new", true },
			decide.Decision{Action: decide.TakeOver, After: 10 * time.Minute}},
		{"also when something that it depends on is not ready",
			func(o *decide.Observation) {
				o.Digest, o.AppliedElsewhere, o.Unready = "sha256:new", true, []string{"Stack a is not ready"}
			},
			decide.Decision{Action: decide.TakeOver, After: 10 * time.Minute}},
		{"but run when someone asks",
			func(o *decide.Observation) { o.Digest, o.AppliedElsewhere, o.Requested = "sha256:new", true, true },
			start(run.Update)},
		{"or when the resync is due",
			func(o *decide.Observation) { o.Digest, o.AppliedElsewhere, o.ContinueResync = "sha256:new", true, true },
			start(run.Update)},
		{"and taken over when it is not due",
			func(o *decide.Observation) {
				o.Digest, o.AppliedElsewhere, o.ContinueResync = "sha256:new", true, true
				o.Last.EndedAt = now.Add(-4 * time.Minute)
			},
			decide.Decision{Action: decide.TakeOver, After: 6 * time.Minute}},
		{"a preview is not taken over",
			func(o *decide.Observation) { o.Digest, o.AppliedElsewhere, o.Preview = "sha256:new", true, true },
			start(run.Preview)},
		{"and a suspended Stack is left alone",
			func(o *decide.Observation) { o.Digest, o.AppliedElsewhere, o.Suspended = "sha256:new", true, true },
			decide.Decision{Action: decide.MarkSuspended}},
		{"a deleted Stack that another controller has applied is destroyed",
			func(o *decide.Observation) {
				o.AppliedElsewhere, o.Deleting, o.DestroyOnFinalize = true, true, true
			},
			start(run.Destroy)},
	})
}
