// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAStackInANamespaceThatIsBeingDeleted(t *testing.T) {
	stalled := decide.Decision{Action: decide.Stall, Reason: v1.DestroyFailedReason, Message: decide.NamespaceEndsMessage}
	removeFinalizer := decide.Decision{Action: decide.RemoveFinalizer}
	for name, tt := range map[string]struct {
		change func(*decide.Observation)
		want   decide.Decision
	}{
		"to be destroyed":                  {func(*decide.Observation) {}, stalled},
		"interrupted, and to be destroyed": {func(o *decide.Observation) { o.Interrupted = true }, stalled},
		"destroyed already":                {func(o *decide.Observation) { o.Last.Operation = run.Destroy }, removeFinalizer},
		"asked for again":                  {func(o *decide.Observation) { o.Requested = true }, stalled},
		"to be kept":                       {func(o *decide.Observation) { o.DestroyOnFinalize = false }, removeFinalizer},
		"interrupted, and to be kept":      {func(o *decide.Observation) { o.DestroyOnFinalize, o.Interrupted = false, true }, removeFinalizer},
		"a recovery was cancelled, and to be kept": {func(o *decide.Observation) {
			o.DestroyOnFinalize, o.Interrupted, o.Cancelled = false, true, &decide.Cancelled{Operation: run.Recover}
		}, removeFinalizer},
		"suspended":   {func(o *decide.Observation) { o.Suspended = true }, removeFinalizer},
		"never run":   {func(o *decide.Observation) { o.NeverRan = true }, removeFinalizer},
		"not deleted": {func(o *decide.Observation) { o.Deleting = false }, decide.Decision{Action: decide.InSync, After: inSync().Interval}},
	} {
		t.Run(name, func(t *testing.T) {
			o := inSync()
			o.HasFinalizer, o.Deleting, o.DestroyOnFinalize, o.NamespaceEnds = true, true, true, true
			tt.change(&o)
			NewWithT(t).Expect(decide.Next(o)).To(Equal(tt.want))
		})
	}
}
