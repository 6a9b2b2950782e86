// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func inFlight() *decide.Run {
	return &decide.Run{Phase: run.Running, Holder: decide.HeldHere, ProgressReported: true}
}

func TestDuties(t *testing.T) {
	deleted := func(o *decide.Observation) { o.Deleting, o.DestroyOnFinalize = true, true }
	released := func(o *decide.Observation) { o.Deleting = true }
	for _, tt := range []struct {
		name    string
		changes []func(*decide.Observation)
		want    []decide.Duty
	}{
		{name: "a Stack in sync has none"},

		{name: "a finalizer that was removed is put back where there may be something to undo",
			changes: changes(func(o *decide.Observation) { o.HasFinalizer, o.MayHaveCreated = false, true }), want: duties(decide.RestoreFinalizer)},
		{name: "also when the Stack is suspended",
			changes: changes(func(o *decide.Observation) { o.HasFinalizer, o.MayHaveCreated, o.Suspended = false, true, true }), want: duties(decide.RestoreFinalizer)},
		{name: "also while a run is in flight",
			changes: changes(func(o *decide.Observation) { o.HasFinalizer, o.MayHaveCreated, o.Run = false, true, inFlight() }), want: duties(decide.RestoreFinalizer)},
		{name: "but not before the first run",
			changes: changes(func(o *decide.Observation) { o.HasFinalizer = false })},
		{name: "nor once the Stack is deleted",
			changes: changes(deleted, func(o *decide.Observation) { o.HasFinalizer, o.MayHaveCreated = false, true })},

		{name: "a cancel is repeated while the run is in flight",
			changes: changes(func(o *decide.Observation) { o.Run = inFlight(); o.Run.CancelRecorded = true }), want: duties(decide.RepeatCancel)},
		{name: "but not once it has ended",
			changes: changes(func(o *decide.Observation) {
				o.Run = &decide.Run{Phase: run.Ended, Holder: decide.HeldHere, CancelRecorded: true}
			})},

		{name: "what the status has is confirmed to the run that waits for it",
			changes: changes(func(o *decide.Observation) { o.Run = inFlight(); o.Run.Unconfirmed = true }), want: duties(decide.ConfirmFindings)},
		{name: "but not beside a write, which confirms it too",
			changes: changes(func(o *decide.Observation) { o.Run = inFlight(); o.Run.Unconfirmed, o.Run.FoundMore = true, true })},

		{name: "a queued preview is withdrawn with its request",
			changes: changes(func(o *decide.Observation) { o.PreviewWaits = true }), want: duties(decide.WithdrawPreview)},
		{name: "but not while it is requested",
			changes: changes(func(o *decide.Observation) { o.PreviewWaits, o.PreviewRequested = true, true })},

		{name: "a Secret that the spec no longer names is deleted",
			changes: changes(func(o *decide.Observation) { o.FormerOutputs = true }), want: duties(decide.DeleteFormerOutputs)},
		{name: "also when a run cannot start",
			changes: changes(func(o *decide.Observation) {
				o.FormerOutputs, o.Problem = true, &decide.Problem{Reason: "InputsFailed", Message: "gone"}
			}), want: duties(decide.DeleteFormerOutputs)},
		{name: "but not while a run is in flight, which may write to it",
			changes: changes(func(o *decide.Observation) { o.FormerOutputs, o.Run = true, inFlight() })},
		{name: "nor while the Stack is suspended",
			changes: changes(func(o *decide.Observation) { o.FormerOutputs, o.Suspended = true, true })},
		{name: "nor by a Stack that only previews",
			changes: changes(func(o *decide.Observation) { o.FormerOutputs, o.Preview = true, true })},
		{name: "nor once the Stack is deleted, as it may need it for the destroy",
			changes: changes(deleted, func(o *decide.Observation) { o.FormerOutputs = true })},

		{name: "an inventory is written again when it is due",
			changes: changes(func(o *decide.Observation) { o.InventoryRetryAt = now }), want: duties(decide.WriteInventory)},
		{name: "also in a deletion",
			changes: changes(deleted, func(o *decide.Observation) { o.InventoryRetryAt = now }), want: duties(decide.WriteInventory)},
		{name: "but not before",
			changes: changes(func(o *decide.Observation) { o.InventoryRetryAt = now.Add(time.Second) })},
		{name: "nor while a run is in flight, which may have another",
			changes: changes(func(o *decide.Observation) { o.InventoryRetryAt, o.Run = now, inFlight() })},
		{name: "and is dropped with the Stack",
			changes: changes(released, func(o *decide.Observation) { o.InventoryRetryAt = now.Add(time.Hour) }), want: duties(decide.DropInventory)},

		{name: "a prerequisite that is too old is asked to run again",
			changes: changes(func(o *decide.Observation) {
				o.Digest, o.Unready, o.StalePrerequisites = "sha256:new", []string{"Stack a is too old"}, true
			}), want: duties(decide.RunPrerequisites)},
		{name: "but not for a Stack that has nothing to run",
			changes: changes(func(o *decide.Observation) { o.Unready, o.StalePrerequisites = []string{"Stack a is too old"}, true })},

		{name: "several are in order",
			changes: changes(func(o *decide.Observation) {
				o.HasFinalizer, o.MayHaveCreated, o.PreviewWaits, o.FormerOutputs, o.InventoryRetryAt = false, true, true, true, now
			}), want: duties(decide.RestoreFinalizer, decide.WithdrawPreview, decide.DeleteFormerOutputs, decide.WriteInventory)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			o := inSync()
			for _, change := range tt.changes {
				change(&o)
			}
			d := decide.Next(o)
			g.Expect(d.Duties).To(Equal(tt.want))
			for _, duty := range d.Duties {
				g.Expect(duty.Why()).NotTo(BeEmpty(), "debug says why: %s", duty)
			}
			explained, _ := decide.Explain(o)
			g.Expect(explained).To(Equal(d), "debug shows the same duties")
		})
	}
}

func changes(all ...func(*decide.Observation)) []func(*decide.Observation) { return all }

func duties(all ...decide.Duty) []decide.Duty { return all }

func TestAnInventoryThatCouldNotBeWrittenIsRetriedInTime(t *testing.T) {
	for name, tt := range map[string]struct {
		retryAt time.Time
		want    time.Duration
	}{
		"none":                               {time.Time{}, 10 * time.Minute},
		"soon":                               {now.Add(20 * time.Second), 20 * time.Second},
		"not within the second":              {now.Add(time.Millisecond), time.Second},
		"due, and may fail again":            {now, time.Minute},
		"no later, if the clock is set back": {now.Add(time.Hour), time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := inSync()
			o.InventoryRetryAt = tt.retryAt
			g.Expect(decide.Next(o).After).To(Equal(tt.want))
			o.Run = inFlight()
			g.Expect(decide.Next(o).After).To(BeZero(), "not before the end of the run")
		})
	}
}
