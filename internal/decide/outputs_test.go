// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"reflect"
	"testing"
	"testing/quick"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestOutputs(t *testing.T) {
	start := func(op run.Operation) decide.Decision { return decide.Decision{Action: decide.Start, Operation: op} }
	fail := func(message string, after time.Duration) decide.Decision {
		return decide.Decision{Action: decide.Fail, Reason: "OutputsFailed", Message: message, After: after}
	}
	synced := decide.Decision{Action: decide.InSync, After: 10 * time.Minute}
	tests := []struct {
		name   string
		change func(o *decide.Observation)
		want   decide.Decision
	}{
		{"outputs that are not in their Secret are read, and nothing is run again", func(*decide.Observation) {}, start(run.ReadOutputs)},
		{"they wait for no dependency", func(o *decide.Observation) { o.Unready = []string{"Stack default/a is not ready"} }, start(run.ReadOutputs)},
		{"a Secret that is as it should be is left alone", func(o *decide.Observation) { o.Outputs.Stale = false }, synced},
		{"other inputs are run first, which writes them", func(o *decide.Observation) { o.Digest = "sha256:new" }, start(run.Update)},
		{"so is what was asked for", func(o *decide.Observation) { o.Requested = true }, start(run.Update)},
		{"an update that failed has none", func(o *decide.Observation) { failed(o, 20*time.Second) },
			decide.Decision{Action: decide.Fail, Reason: "UpdateFailed", Message: "no such bucket", After: 40 * time.Second}},
		{"a preview has none", func(o *decide.Observation) { o.Preview, o.Last.Operation = true, run.Preview }, synced},
		{"a suspended Stack is left alone", func(o *decide.Observation) { o.Suspended = true }, decide.Decision{Action: decide.MarkSuspended}},
		{"what is missing for any run comes first", func(o *decide.Observation) { o.Problem = &decide.Problem{Reason: "InputsFailed", Message: "gone"} },
			decide.Decision{Action: decide.Fail, Reason: "InputsFailed", Message: "gone", After: time.Minute}},
		{"a deleted Stack writes none", func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize = true, true }, start(run.Destroy)},
		{"a Secret of another owner is waited for", func(o *decide.Observation) { o.Outputs = decide.Outputs{Blocked: "theirs"} }, fail("theirs", time.Minute)},
		{"also after another fault", func(o *decide.Observation) { o.Outputs = decide.Outputs{Stale: true, Fault: "bad", Blocked: "theirs"} },
			fail("theirs", time.Minute)},
		{"a fault that time does not mend is reported, and not tried again", func(o *decide.Observation) { o.Outputs.Fault = "no output" },
			fail("no output", time.Minute)},
		{"a resync comes all the same, and in time",
			func(o *decide.Observation) {
				o.Outputs.Fault, o.ContinueResync = "no output", true
				o.Last.EndedAt = now.Add(-10*time.Minute + 5*time.Second)
			}, fail("no output", 5*time.Second)},
		{"a fault that may pass is reported until it is time", func(o *decide.Observation) { o.Outputs.Fault, o.Outputs.RetryAt = "away", now.Add(20*time.Second) },
			fail("away", 20*time.Second)},
		{"and then the outputs are read again", func(o *decide.Observation) { o.Outputs.Fault, o.Outputs.RetryAt = "away", now }, start(run.ReadOutputs)},
		{"a clock that was set back puts nothing off for long", func(o *decide.Observation) { o.Outputs.Fault, o.Outputs.RetryAt = "away", now.Add(time.Hour) },
			fail("away", time.Minute)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			o := inSync()
			o.Outputs.Stale = true
			tt.change(&o)
			g.Expect(decide.Next(o)).To(Equal(tt.want))
		})
	}
}

func TestOutputsRetry(t *testing.T) {
	for name, tt := range map[string]struct {
		outcome  run.Outcome
		failures int64
		want     time.Duration
	}{
		"a pod that could not start":     {run.PodFailed, 1, 10 * time.Second},
		"the second one":                 {run.PodFailed, 2, 20 * time.Second},
		"one after many":                 {run.PodFailed, 40, time.Minute},
		"a backend that is out of reach": {run.BackendUnavailable, 1, 10 * time.Second},
		"a fault of Pulumi":              {run.Failed, 1, time.Minute},
		"a timeout":                      {run.TimedOut, 1, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(decide.OutputsRetry(tt.outcome, tt.failures, time.Minute)).To(Equal(tt.want))
		})
	}
}

func TestOutputsComeLast(t *testing.T) {
	check := func(bits uint32, phase, operation uint8, ago int16, stale, blocked bool) bool {
		without := observation(bits, phase, operation, ago)
		o := without
		o.Outputs.Stale = stale
		if blocked {
			o.Outputs.Blocked = "theirs"
		}
		before, after := decide.Next(without), decide.Next(o)
		read := before.Action == decide.AwaitApproval && after.Operation == run.ReadOutputs // an approval may take weeks
		return reflect.DeepEqual(before, after) || before.Action == decide.InSync || read
	}
	if err := quick.Check(check, observations()); err != nil {
		t.Error(err)
	}
}
