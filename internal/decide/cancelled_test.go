// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestACancelledOperationIsNotStartedAgain(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	of := func(operation run.Operation, change func(*Observation)) Observation {
		o := Observation{
			HasFinalizer: true, Interval: time.Hour, RetryInterval: time.Minute, Digest: "d", Now: begin.Add(1000 * time.Hour), ContinueResync: true,
			DestroyOnFinalize: true,
			Last:              LastRun{Operation: operation, Digest: "d", Reason: v1.CancelRequestedReason, EndedAt: begin},
			Cancelled:         &Cancelled{Operation: operation, Digest: "d", Message: "cancelled"},
		}
		if change != nil {
			change(&o)
		}
		return o
	}
	for name, test := range map[string]struct {
		observed Observation
		want     string
	}{
		"an update": {of(run.Update, nil), "Stall"},
		"a preview": {of(run.Preview, func(o *Observation) { o.Preview = true }), "Stall"},
		"a preview of the same commit": {of(run.Preview, func(o *Observation) {
			o.Preview, o.ChangeRequest, o.Last.Revision, o.Revision = true, true, "main@sha1:a", "main@sha1:a"
		}), "Stall"},
		"a preview of another commit with the same content": {of(run.Preview, func(o *Observation) {
			o.Preview, o.ChangeRequest, o.Last.Revision, o.Revision = true, true, "main@sha1:a", "main@sha1:b"
		}), "Start preview"},
		"such a commit of no pull request": {of(run.Preview, func(o *Observation) {
			o.Preview, o.Last.Revision, o.Revision = true, "main@sha1:a", "main@sha1:b"
		}), "Stall"},
		"an update, on request":           {of(run.Update, func(o *Observation) { o.Requested = true }), "Start update"},
		"an update that is owed":          {of(run.Update, func(o *Observation) { o.RunPending = true }), "Start update"},
		"an update of other inputs":       {of(run.Update, func(o *Observation) { o.Digest = "e" }), "Start update"},
		"what it left is recovered from":  {of(run.Update, func(o *Observation) { o.Interrupted = true }), "Start recover"},
		"a recovery":                      {of(run.Recover, func(o *Observation) { o.Interrupted = true }), "Stall"},
		"a recovery, of other inputs":     {of(run.Recover, func(o *Observation) { o.Interrupted, o.Digest = true, "e" }), "Stall"},
		"a recovery, with another owed":   {of(run.Recover, func(o *Observation) { o.Interrupted, o.RunPending = true, true }), "Stall"},
		"a recovery, on request":          {of(run.Recover, func(o *Observation) { o.Interrupted, o.Requested = true, true }), "Start recover"},
		"a destroy":                       {of(run.Destroy, func(o *Observation) { o.Deleting = true }), "Stall"},
		"a destroy, of other inputs":      {of(run.Destroy, func(o *Observation) { o.Deleting, o.Digest = true, "e" }), "Stall"},
		"a destroy, on request":           {of(run.Destroy, func(o *Observation) { o.Deleting, o.Requested = true, true }), "Start destroy"},
		"a destroy, of a Stack to keep":   {of(run.Destroy, func(o *Observation) { o.Deleting, o.DestroyOnFinalize = true, false }), "RemoveFinalizer"},
		"an update, of a Stack that goes": {of(run.Update, func(o *Observation) { o.Deleting = true }), "Start destroy"},
		"the request to cancel itself": {of(run.Update, func(o *Observation) {
			o.Run = &Run{Phase: run.Running, StartedAt: o.Now, CancelAsked: true}
		}), "Cancel"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Next(test.observed).String()).To(Equal(test.want))
		})
	}
}
