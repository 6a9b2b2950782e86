// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// inSync is a Stack that has nothing to do. Each row of a table says what is
// different.
func inSync() decide.Observation {
	return decide.Observation{
		Held:          true,
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

func interruptedNow(o *decide.Observation) {
	failed(o, 0)
	o.Last.Interrupted = true
}

func TestNext(t *testing.T) {
	start := func(op run.Operation) decide.Decision {
		return decide.Decision{Action: decide.Start, Operation: op}
	}
	retryIn := func(d time.Duration) decide.Decision {
		return decide.Decision{Action: decide.Fail, Reason: "UpdateFailed", Message: "no such bucket", After: d}
	}
	waitsAfterRecovery := func(failures int, d time.Duration) decide.Decision {
		return decide.Decision{Action: decide.Fail, Reason: "RunInterrupted", After: d, Message: fmt.Sprintf("Recovered from an "+
			"interrupted run. The next one waits, as %d runs have failed or were interrupted one after the other: does Pulumi, "+
			"or a provider, need more memory?", failures)}
	}
	tests := []struct {
		name   string
		change func(o *decide.Observation)
		want   decide.Decision
	}{
		{"a Stack with nothing new is in sync until its interval",
			func(*decide.Observation) {},
			decide.Decision{Action: decide.InSync, After: 10 * time.Minute}},
		{"a deleted Stack that is to leave everything is recovered first",
			func(o *decide.Observation) { o.Deleting, o.Interrupted = true, true; interruptedNow(o) },
			start(run.Recover)},
		{"and goes when that was done",
			func(o *decide.Observation) { o.Deleting = true; o.Last.Operation = run.Recover },
			decide.Decision{Action: decide.LetGo}},
		{"and goes with creations that are named",
			func(o *decide.Observation) { o.Deleting, o.UnknownCreates = true, []string{"urn:a"} },
			decide.Decision{Action: decide.LetGo}},
		{"and goes where a recovery is not possible",
			func(o *decide.Observation) {
				o.Deleting, o.Interrupted, o.Problem = true, true, &decide.Problem{Reason: "InputsFailed", Message: "no passphrase"}
			},
			decide.Decision{Action: decide.LetGo}},
		{"and goes when it is suspended",
			func(o *decide.Observation) { o.Deleting, o.Interrupted, o.Suspended = true, true, true },
			decide.Decision{Action: decide.LetGo}},
		{"and waits where a recovery has failed",
			func(o *decide.Observation) {
				o.Deleting, o.Interrupted = true, true
				failed(o, 0)
				o.Last.Operation = run.Recover
			},
			retryIn(time.Minute)},
		{"a recovery does not wait for a program that it does not need",
			func(o *decide.Observation) {
				o.Interrupted, o.Recoverable, o.Problem = true, true, &decide.Problem{Reason: "ArtifactFailed", Message: "gone"}
			},
			start(run.Recover)},
		{"a recovery waits for inputs",
			func(o *decide.Observation) {
				o.Interrupted, o.Problem = true, &decide.Problem{Reason: "InputsFailed", Message: "gone"}
			},
			decide.Decision{Action: decide.Fail, Reason: "InputsFailed", Message: "gone", After: time.Minute}},
		{"a Stack that never ran is run",
			func(o *decide.Observation) { o.Last = decide.LastRun{}; o.Held = false },
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
			func(o *decide.Observation) { failed(o, time.Second); o.Last.Cancelled = true },
			start(run.Update)},
		{"a request runs a Stack that is in sync",
			func(o *decide.Observation) { o.Requested = true },
			start(run.Update)},
		{"a run that is owed does not wait for the retry interval",
			func(o *decide.Observation) { failed(o, time.Second); o.Owed = true },
			start(run.Update)},
		{"nor for an edit",
			func(o *decide.Observation) { o.Owed = true },
			start(run.Update)},
		{"a suspended Stack owes no run",
			func(o *decide.Observation) { o.Suspended, o.Owed = true, true },
			decide.Decision{Action: decide.Nothing}},
		{"a run that is owed hurries no recovery",
			func(o *decide.Observation) {
				failed(o, 20*time.Second)
				o.Interrupted, o.Owed, o.Last.Operation = true, true, run.Recover
			},
			retryIn(40 * time.Second)},
		{"a suspended Stack is left alone whatever has changed",
			func(o *decide.Observation) { o.Suspended = true; o.Requested = true; o.Digest = "sha256:new" },
			decide.Decision{Action: decide.Nothing}},
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
			func(o *decide.Observation) { failed(o, 4*time.Second); o.Last.Unavailable, o.Failures = true, 1 },
			retryIn(6 * time.Second)},
		{"and then after twice as long each time",
			func(o *decide.Observation) { failed(o, 4*time.Second); o.Last.Unavailable, o.Failures = true, 3 },
			retryIn(36 * time.Second)},
		{"and never later than the retry interval",
			func(o *decide.Observation) { failed(o, 4*time.Second); o.Last.Unavailable, o.Failures = true, 1<<60 },
			retryIn(56 * time.Second)},
		{"and then it is tried again",
			func(o *decide.Observation) { failed(o, 10*time.Second); o.Last.Unavailable, o.Failures = true, 1 },
			start(run.Update)},
		{"a retry interval that is shorter than the backoff is kept",
			func(o *decide.Observation) {
				failed(o, time.Second)
				o.Last.Unavailable, o.Failures, o.RetryInterval = true, 1, 3*time.Second
			},
			retryIn(2 * time.Second)},
		{"a destroy whose backend is out of reach is tried again soon",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				failed(o, 4*time.Second)
				o.Last.Operation, o.Last.Unavailable, o.Failures = run.Destroy, true, 1
			},
			retryIn(6 * time.Second)},
		{"a lock of somebody else is waited for at the retry interval",
			func(o *decide.Observation) { failed(o, 20*time.Second); o.Last.Locked, o.Failures = true, 1 },
			retryIn(40 * time.Second)},
		{"and sooner where the spec asks for it",
			func(o *decide.Observation) {
				failed(o, time.Second)
				o.Last.Locked, o.RetryConflict, o.Failures = true, true, 2
			},
			retryIn(9 * time.Second)},
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
			decide.Decision{Action: decide.Nothing}},

		{"a Stack that only previews is previewed",
			func(o *decide.Observation) { o.Preview = true; o.Digest = "sha256:new" },
			start(run.Preview)},
		{"and again when somebody asks",
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
		{"a deleted Stack that only previews is let go, and nothing is destroyed",
			func(o *decide.Observation) { o.Preview, o.Deleting, o.DestroyOnFinalize = true, true, true },
			decide.Decision{Action: decide.LetGo}},

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
		{"a long run is told of",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-10 * time.Second)}
			},
			decide.Decision{Action: decide.Tell, After: 10 * time.Second}},
		{"and again when it has taken twice as long",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-25 * time.Second), Told: true, ToldAfter: 20 * time.Second}
			},
			decide.Decision{Action: decide.Nothing, After: 15 * time.Second}},
		{"which is then",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-41 * time.Second), Told: true, ToldAfter: 20 * time.Second}
			},
			decide.Decision{Action: decide.Tell, After: 41 * time.Second}},
		{"and once a minute when it takes long",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-time.Hour), Told: true, ToldAfter: time.Hour - 40*time.Second}
			},
			decide.Decision{Action: decide.Nothing, After: 20 * time.Second}},
		{"and sooner when it waits for another thing",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-11 * time.Minute), ToldAfter: 11*time.Minute - 10*time.Second}
			},
			decide.Decision{Action: decide.Tell, After: time.Minute}},
		{"it is not put off for more than a minute, if a clock was set back",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(time.Hour), Told: true, ToldAfter: time.Hour}
			},
			decide.Decision{Action: decide.Nothing, After: time.Minute}},
		{"what tells of another thing is left as it is",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-time.Hour), Told: true}
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
				o.Suspended, o.Deleting, o.Held, o.DestroyOnFinalize = true, true, true, true
			},
			decide.Decision{Action: decide.Release}},
		{"where its holder is proven to be gone nobody has to say so",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HolderGone, Released: true}
			},
			decide.Decision{Action: decide.Lose}},
		{"a run that is in flight here is not released, whatever anybody says",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, Told: true, Released: true}
			},
			decide.Decision{Action: decide.Nothing}},
		{"one that was never started is withdrawn",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldHere, Released: true}
			},
			decide.Decision{Action: decide.Withdraw}},
		{"a result that is there is absorbed",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Ended, Holder: decide.HeldElsewhere, Released: true}
			},
			decide.Decision{Action: decide.Absorb}},
		{"a creation of unknown outcome is named while the run goes on, and its progress still told in time",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-4 * time.Second), UnknownCreates: []string{"urn:a"}}
			},
			decide.Decision{Action: decide.NameCreates, After: 6 * time.Second}},
		{"one more is named beside those that are",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, Told: true, UnknownCreates: []string{"urn:a", "urn:b"}}
				o.UnknownCreates = []string{"urn:a"}
			},
			decide.Decision{Action: decide.NameCreates}},
		{"what is named is not named again",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, Told: true, UnknownCreates: []string{"urn:b"}}
				o.UnknownCreates = []string{"urn:a", "urn:b"}
			},
			decide.Decision{Action: decide.Nothing}},
		{"what is named while its progress is told takes one write",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, StartedAt: now.Add(-10 * time.Second), UnknownCreates: []string{"urn:a"}}
			},
			decide.Decision{Action: decide.Tell, After: 10 * time.Second}},
		{"a run in flight is not cut by other inputs",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, Told: true}
				o.Digest = "sha256:new"
			},
			decide.Decision{Action: decide.Nothing}},
		{"a run in flight is not cut by a deletion",
			func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Running, Holder: decide.HeldHere, Told: true}
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
			decide.Decision{Action: decide.Withdraw}},
		{"a run that a process recorded which is gone is lost",
			func(o *decide.Observation) { o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HolderGone} },
			decide.Decision{Action: decide.Lose}},
		{"a run that a process recorded which may be alive is left to it",
			func(o *decide.Observation) { o.Run = &decide.Run{Phase: run.Unknown, Holder: decide.HeldElsewhere} },
			decide.Decision{Action: decide.Nothing, After: 10 * time.Second}},

		{"what another controller has applied is taken over",
			func(o *decide.Observation) { o.Digest, o.AppliedElsewhere = "sha256:new", true },
			decide.Decision{Action: decide.TakeOver, After: 10 * time.Minute}},
		{"also when something that it depends on is not ready",
			func(o *decide.Observation) {
				o.Digest, o.AppliedElsewhere, o.Unready = "sha256:new", true, []string{"Stack a is not ready"}
			},
			decide.Decision{Action: decide.TakeOver, After: 10 * time.Minute}},
		{"but run when somebody asks",
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
			decide.Decision{Action: decide.Nothing}},
		{"a deleted Stack that another controller has applied is destroyed",
			func(o *decide.Observation) {
				o.AppliedElsewhere, o.Deleting, o.DestroyOnFinalize = true, true, true
			},
			start(run.Destroy)},

		{"an interrupted run is recovered from before other inputs are run",
			func(o *decide.Observation) { o.Interrupted = true; o.Digest = "sha256:new" },
			start(run.Recover)},
		{"an interrupted run is recovered from before a destroy",
			func(o *decide.Observation) { o.Interrupted, o.Deleting, o.DestroyOnFinalize = true, true, true },
			start(run.Recover)},
		{"what was interrupted is run again at once after the recovery",
			func(o *decide.Observation) { o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now, 1 },
			start(run.Update)},
		{"but waits when it was interrupted before",
			func(o *decide.Observation) {
				o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now.Add(-4*time.Second), 2
			},
			waitsAfterRecovery(2, 6*time.Second)},
		{"and longer each time",
			func(o *decide.Observation) { o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now, 3 },
			waitsAfterRecovery(3, 20*time.Second)},
		{"and never longer than the retry interval",
			func(o *decide.Observation) { o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now, 1<<60 },
			waitsAfterRecovery(1<<60, time.Minute)},
		{"and then it is run again",
			func(o *decide.Observation) {
				o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now.Add(-10*time.Second), 2
			},
			start(run.Update)},
		{"other inputs do not wait for it",
			func(o *decide.Observation) {
				o.Last.Operation, o.Last.EndedAt, o.Failures, o.Digest = run.Recover, now, 5, "sha256:new"
			},
			start(run.Update)},
		{"nor does another spec",
			func(o *decide.Observation) {
				o.Last.Operation, o.Last.EndedAt, o.Failures, o.Edited = run.Recover, now, 5, true
			},
			start(run.Update)},
		{"nor does a request",
			func(o *decide.Observation) {
				o.Last.Operation, o.Last.EndedAt, o.Failures, o.Requested = run.Recover, now, 5, true
			},
			start(run.Update)},
		{"a recovery that was interrupted itself waits",
			func(o *decide.Observation) {
				interruptedNow(o)
				o.Interrupted, o.Last.Operation, o.Failures = true, run.Recover, 2
			},
			retryIn(10 * time.Second)},
		{"a preview that was interrupted is run again at once",
			func(o *decide.Observation) {
				interruptedNow(o)
				o.Preview, o.Last.Operation, o.Failures = true, run.Preview, 1
			},
			start(run.Preview)},
		{"but waits when it was interrupted before",
			func(o *decide.Observation) {
				interruptedNow(o)
				o.Preview, o.Last.Operation, o.Failures = true, run.Preview, 2
			},
			retryIn(10 * time.Second)},
		{"a stack of another controller's is looked for before it is destroyed",
			func(o *decide.Observation) { o.Unfound, o.Deleting, o.DestroyOnFinalize = true, true, true },
			start(run.Recover)},
		{"what was not found is looked for again, but not at once",
			func(o *decide.Observation) {
				o.Unfound, o.Deleting, o.DestroyOnFinalize = true, true, true
				failed(o, 20*time.Second)
				o.Last.Operation = run.Recover
			},
			retryIn(40 * time.Second)},
		{"but is at once where somebody has edited the spec",
			func(o *decide.Observation) {
				o.Unfound, o.Deleting, o.DestroyOnFinalize, o.Edited = true, true, true, true
				failed(o, 20*time.Second)
				o.Last.Operation = run.Recover
			},
			start(run.Recover)},
		{"it is let go without a look where nothing is to be destroyed",
			func(o *decide.Observation) { o.Unfound, o.Deleting = true, true },
			decide.Decision{Action: decide.LetGo}},
		{"an update of it finds it, or fails",
			func(o *decide.Observation) { o.Unfound = true; o.Digest = "sha256:new" },
			start(run.Update)},
		{"a destroy that was interrupted is run again at once after the recovery",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now, 1
			},
			start(run.Destroy)},
		{"but waits when it was interrupted before",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now, 2
			},
			waitsAfterRecovery(2, 10*time.Second)},
		{"a destroy does not wait for what an update before the deletion did",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize, o.Edited = true, true, true
				o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now, 5
			},
			start(run.Destroy)},
		{"a recovery that failed is tried again, but not at once",
			func(o *decide.Observation) {
				o.Interrupted = true
				failed(o, 20*time.Second)
				o.Last.Operation = run.Recover
			},
			retryIn(40 * time.Second)},
		{"a suspended Stack is not recovered",
			func(o *decide.Observation) { o.Interrupted, o.Suspended = true, true },
			decide.Decision{Action: decide.Nothing}},
		{"creations of unknown outcome stall the Stack, by name",
			func(o *decide.Observation) { o.UnknownCreates = []string{"urn:a", "urn:b"}; o.Digest = "sha256:new" },
			decide.Decision{Action: decide.Stall, Reason: "PendingOperations", Message: "It is not known whether these resources " +
				"were created: urn:a, urn:b. Look for them at their provider, import them into the stack or delete them, " +
				"and set spec.pendingCreates: Clear"}},
		{"creations of unknown outcome hold up a destroy, which would miss them",
			func(o *decide.Observation) {
				o.UnknownCreates = []string{"urn:a"}
				o.Deleting, o.DestroyOnFinalize = true, true
			},
			decide.Decision{Action: decide.Stall, Reason: "PendingOperations", Message: decide.UnknownCreatesMessage([]string{"urn:a"})}},
		{"a request does not answer whether something was created",
			func(o *decide.Observation) { o.UnknownCreates = []string{"urn:a"}; o.Requested = true },
			decide.Decision{Action: decide.Stall, Reason: "PendingOperations", Message: decide.UnknownCreatesMessage([]string{"urn:a"})}},
		{"creations of unknown outcome are cleared when the spec says so",
			func(o *decide.Observation) { o.UnknownCreates = []string{"urn:a"}; o.ClearPendingCreates = true },
			start(run.Recover)},
		{"clearing needs nothing to be done where nothing is unknown",
			func(o *decide.Observation) { o.ClearPendingCreates = true },
			decide.Decision{Action: decide.InSync, After: 10 * time.Minute}},

		{"a deleted Stack is destroyed when it asks for that",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize = true, true },
			start(run.Destroy)},
		{"a deleted Stack is let go when nothing is to be destroyed",
			func(o *decide.Observation) { o.Deleting = true },
			decide.Decision{Action: decide.LetGo}},
		{"a deleted Stack that never ran is let go",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize, o.Held = true, true, false },
			decide.Decision{Action: decide.LetGo}},
		{"a deleted Stack of which no run got as far as Pulumi is let go",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize, o.NeverRan = true, true, true },
			decide.Decision{Action: decide.LetGo}},
		{"a deleted Stack that is suspended is let go without a destroy",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize, o.Suspended = true, true, true },
			decide.Decision{Action: decide.LetGo}},
		{"a deleted Stack stays while what its destroy needs is missing",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				o.Problem = &decide.Problem{Reason: "InputsFailed", Message: "Secret gone"}
			},
			decide.Decision{Action: decide.Fail, Reason: "InputsFailed", Message: "Secret gone", After: time.Minute}},
		{"a deleted Stack whose destroy failed stays, and is destroyed again later",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				failed(o, 20*time.Second)
				o.Last.Operation = run.Destroy
			},
			retryIn(40 * time.Second)},
		{"a failed destroy is tried again at once when the spec was edited since",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize, o.Edited = true, true, true
				failed(o, 20*time.Second)
				o.Last.Operation = run.Destroy
			},
			start(run.Destroy)},
		{"a failed update does not hold up the destroy",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize = true, true; failed(o, time.Second) },
			start(run.Destroy)},
		{"a destroyed Stack is let go also when what the destroy needed is gone by now",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				o.Last.Operation = run.Destroy
				o.Problem = &decide.Problem{Reason: "InputsFailed", Message: "Secret gone"}
			},
			decide.Decision{Action: decide.LetGo}},
		{"a deleted Stack is let go once it is destroyed",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				o.Last.Operation = run.Destroy
			},
			decide.Decision{Action: decide.LetGo}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			o := inSync()
			tt.change(&o)
			g.Expect(decide.Next(o)).To(Equal(tt.want))
		})
	}
}

func TestTheCreationsThatAMessageNamesAreBounded(t *testing.T) {
	g := NewWithT(t)
	urns := slices.Repeat([]string{"urn:a"}, 10)
	g.Expect(decide.UnknownCreatesMessage(urns)).NotTo(ContainSubstring("more"))
	message := decide.UnknownCreatesMessage(append(urns, "urn:b", "urn:c"))
	g.Expect(message).To(And(ContainSubstring("urn:a and 2 more. Look"), ContainSubstring("pendingCreates: Clear"), Not(ContainSubstring("urn:b"))))
}
