// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestNextOfADeletion(t *testing.T) {
	testNext(t, []nextCase{
		{"a deleted Stack that is to leave everything is recovered first",
			func(o *decide.Observation) { o.Deleting, o.Interrupted = true, true; interruptedNow(o) },
			start(run.Recover)},
		{"and goes when that was done",
			func(o *decide.Observation) { o.Deleting = true; o.Last.Operation = run.Recover },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"and goes with creations that are named",
			func(o *decide.Observation) { o.Deleting, o.UnknownCreates = true, []string{"urn:a"} },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"and goes where a recovery is not possible",
			func(o *decide.Observation) {
				o.Deleting, o.Interrupted, o.Problem = true, true, &decide.Problem{Reason: "InputsFailed", Message: "no passphrase"}
			},
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"but not because of what may be over soon",
			func(o *decide.Observation) {
				o.Deleting, o.Interrupted = true, true
				o.Problem = &decide.Problem{Reason: "ServiceAccountFailed", Message: "timeout", Since: o.Now.Add(-59 * time.Second)}
			},
			decide.Decision{Action: decide.Fail, Reason: "ServiceAccountFailed", Message: "timeout", After: 59 * time.Second}},
		{"nor with a clock that was set back",
			func(o *decide.Observation) {
				o.Deleting, o.Interrupted = true, true
				o.Problem = &decide.Problem{Reason: "ServiceAccountFailed", Message: "timeout", Since: o.Now.Add(time.Minute)}
			},
			decide.Decision{Action: decide.Fail, Reason: "ServiceAccountFailed", Message: "timeout", After: 10 * time.Second}},
		{"and goes when that is not over after the retry interval",
			func(o *decide.Observation) {
				o.Deleting, o.Interrupted = true, true
				o.Problem = &decide.Problem{Reason: "ServiceAccountFailed", Message: "timeout", Since: o.Now.Add(-time.Minute)}
			},
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"and needs nothing with no run to recover from",
			func(o *decide.Observation) {
				o.Deleting, o.Problem = true, &decide.Problem{Reason: "ArtifactFailed", Message: "not yet fetched", Since: o.Now}
			},
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"and goes when it is suspended",
			func(o *decide.Observation) { o.Deleting, o.Interrupted, o.Suspended = true, true, true },
			decide.Decision{Action: decide.RemoveFinalizer}},
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
		{"a deleted Stack is destroyed when it asks for that",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize = true, true },
			start(run.Destroy)},
		{"a deleted Stack is released when nothing is to be destroyed",
			func(o *decide.Observation) { o.Deleting = true },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"a deleted Stack that never ran is released",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize, o.HasFinalizer = true, true, false },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"a deleted Stack of which no run got as far as Pulumi is released",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize, o.NeverRan = true, true, true },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"a deleted Stack that is suspended is released without a destroy",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize, o.Suspended = true, true, true },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"a deleted Stack stays while what its destroy needs is missing",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				o.Problem = &decide.Problem{Reason: "InputsFailed", Message: "Secret gone"}
			},
			decide.Decision{Action: decide.Fail, Reason: "InputsFailed", After: time.Minute, Message: "Secret gone. " +
				"To delete the Stack without a destroy and keep its resources, set spec.destroyOnFinalize to false"}},
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
		{"and when other inputs are there",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize, o.Last.RunDigest = true, true, "sha256:expired"
				failed(o, 20*time.Second)
				o.Last.Operation = run.Destroy
			},
			start(run.Destroy)},
		{"a failed update does not hold up the destroy",
			func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize = true, true; failed(o, time.Second) },
			start(run.Destroy)},
		{"a destroyed Stack is released also when what the destroy needed is gone by now",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				o.Last.Operation = run.Destroy
				o.Problem = &decide.Problem{Reason: "InputsFailed", Message: "Secret gone"}
			},
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"a deleted Stack is released once it is destroyed",
			func(o *decide.Observation) {
				o.Deleting, o.DestroyOnFinalize = true, true
				o.Last.Operation = run.Destroy
			},
			decide.Decision{Action: decide.RemoveFinalizer}},
	})
}
