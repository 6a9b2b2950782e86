// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func waitsAfterRecovery(failures int, d time.Duration) decide.Decision {
	return decide.Decision{Action: decide.Fail, Reason: "RunInterrupted", After: d, Message: fmt.Sprintf("Recovered from an interrupted run. The next run waits, because %d runs in a row failed or were interrupted: does Pulumi, "+
		"or a provider, need more memory?", failures)}
}

func TestNextOfARecovery(t *testing.T) {
	testNext(t, []nextCase{
		{"an interrupted run is recovered from before other inputs are run",
			func(o *decide.Observation) { o.Interrupted = true; o.Digest = "sha256:new" },
			start(run.Recover)},
		{"an interrupted run is recovered from before a destroy",
			func(o *decide.Observation) { o.Interrupted, o.Deleting, o.DestroyOnFinalize = true, true, true },
			start(run.Recover)},
		{"what was interrupted is run again at once after the recovery",
			func(o *decide.Observation) { o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now, 1 },
			start(run.Update)},
		{"and then says how it had failed, if it did",
			func(o *decide.Observation) {
				o.Last.Operation, o.Last.EndedAt, o.Failures, o.Last.Message = run.Recover, now, 2, "no space"
			},
			decide.Decision{Action: decide.Fail, Reason: "RunInterrupted", After: 10 * time.Second, Message: "Recovered from an interrupted run. The next run waits, because 2 runs in a row failed or were interrupted: no space"}},
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
			retryOf(v1.RunInterruptedReason, 10*time.Second)},
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
			retryOf(v1.RunInterruptedReason, 10*time.Second)},
		{"a stack of another controller's is looked for before it is destroyed",
			func(o *decide.Observation) { o.MustExist, o.Deleting, o.DestroyOnFinalize = true, true, true },
			start(run.Recover)},
		{"what was not found is looked for again, but not at once",
			func(o *decide.Observation) {
				o.MustExist, o.Deleting, o.DestroyOnFinalize = true, true, true
				failed(o, 20*time.Second)
				o.Last.Operation = run.Recover
			},
			retryIn(40 * time.Second)},
		{"but is at once where someone has edited the spec",
			func(o *decide.Observation) {
				o.MustExist, o.Deleting, o.DestroyOnFinalize, o.Edited = true, true, true, true
				failed(o, 20*time.Second)
				o.Last.Operation = run.Recover
			},
			start(run.Recover)},
		{"it is released without a look where nothing is to be destroyed",
			func(o *decide.Observation) { o.MustExist, o.Deleting = true, true },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"an update of it finds it, or fails",
			func(o *decide.Observation) { o.MustExist = true; o.Digest = "sha256:new" },
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
		{"a recovery that failed is tried again at once with other inputs",
			func(o *decide.Observation) {
				o.Interrupted, o.Last.RunDigest = true, "sha256:expired"
				failed(o, time.Second)
				o.Last.Operation = run.Recover
			},
			start(run.Recover)},
		{"and with another spec",
			func(o *decide.Observation) {
				o.Interrupted, o.Edited = true, true
				failed(o, time.Second)
				o.Last.Operation = run.Recover
			},
			start(run.Recover)},
		{"but not where its inputs are not known",
			func(o *decide.Observation) {
				o.Interrupted, o.Last.RunDigest = true, ""
				failed(o, time.Second)
				o.Last.Operation = run.Recover
			},
			retryIn(59 * time.Second)},
		{"what was not found is looked for again at once with other inputs",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize, o.MustExist, o.Last.RunDigest = true, true, true, "sha256:expired"
				failed(o, time.Second)
				o.Last.Operation = run.Recover
			},
			start(run.Recover)},
		{"a destroy does not wait after a recovery with other inputs",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize, o.Last.RunDigest = true, true, "sha256:expired"
				o.Last.Operation, o.Last.EndedAt, o.Failures = run.Recover, now, 2
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
			decide.Decision{Action: decide.MarkSuspended}},
		{"creations of unknown outcome stall the Stack, by name",
			func(o *decide.Observation) { o.UnknownCreates = []string{"urn:a", "urn:b"}; o.Digest = "sha256:new" },
			decide.Decision{Action: decide.Stall, Reason: "PendingOperations", Message: "These resources may have been created: urn:a, urn:b. Look for them at their provider, import them into the stack or delete them, then set spec.pendingCreates: Clear"}},
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
	})
}

func TestUnknownCreatesMessageIsBounded(t *testing.T) {
	g := NewWithT(t)
	urns := slices.Repeat([]string{"urn:a"}, 10)
	g.Expect(decide.UnknownCreatesMessage(urns)).NotTo(ContainSubstring("more"))
	message := decide.UnknownCreatesMessage(append(urns, "urn:b", "urn:c"))
	g.Expect(message).To(And(ContainSubstring("urn:a and 2 more. Look"), ContainSubstring("pendingCreates: Clear"), Not(ContainSubstring("urn:b"))))
}
