// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// endNow ends the run in flight, and absorbs it.
func (w *world) endNow(outcome run.Outcome, change func(*run.Result)) {
	w.t.Helper()
	id := w.stack().Status.Run.ID
	w.runner.end(id, outcome, "killed")
	if change != nil {
		change(w.runner.results[id])
	}
	w.runner.results[id].EndedAt = w.Now()
	w.mustReconcile()
}

// untilNextRun reconciles, and returns the delay until the next run.
func untilNextRun(w *world) time.Duration {
	result := w.mustReconcile()
	if w.stack().Status.Run != nil {
		return 0
	}
	return result.RequeueAfter
}

func byForce(r *run.Result) { r.Interrupted = true }

// A program that does not fit into memory is killed each time.
func TestRepeatedlyInterruptedRunsBackOff(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.edit(func(s *v1.Stack) { s.Spec.PendingCreates = v1.PendingCreatesClear })
	clock := started
	w.Now = func() time.Time { return clock }
	interruption := func() time.Duration {
		g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationUpdate))
		w.endNow(run.Failed, byForce)
		w.mustReconcile()
		g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationRecover), "the recovery does not wait")
		w.endNow(run.Succeeded, nil)
		return untilNextRun(w)
	}

	w.mustReconcile()
	g.Expect(interruption()).To(BeZero(), "at once the first time")
	for nth, wait := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
		g.Expect(interruption()).To(Equal(wait))
		stack := w.stack()
		g.Expect(stack.Status.Failures).To(BeEquivalentTo(nth + 2))
		g.Expect(stack.Status.Run).To(BeNil())
		g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.RunInterruptedReason))
		clock = clock.Add(wait)
		w.mustReconcile()
	}

	w.endNow(run.Succeeded, nil)
	g.Expect(w.stack().Status.Failures).To(BeZero())
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
}

func TestRepeatedlyLostRunsBackOff(t *testing.T) {
	g := NewWithT(t)
	w, _ := takenOver(t)
	w.others.gone = true
	for _, wait := range []time.Duration{0, 10 * time.Second} {
		w.mustReconcile()
		w.mustReconcile()
		w.endNow(run.Succeeded, nil)
		g.Expect(untilNextRun(w)).To(Equal(wait))
		w.runner = newTestRunner()
		w.Runner = w.runner
		w.Holder.Instance += "b"
	}

	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"} })
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1), "a request does not wait")
}

func TestFailedRecoveriesDoNotDelayTheInterruptedRun(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	clock := started
	w.Now = func() time.Time { return clock }
	w.mustReconcile()
	w.endNow(run.Failed, byForce)
	w.mustReconcile()
	for range 3 {
		w.endNow(run.BackendUnavailable, nil)
		clock = clock.Add(time.Hour)
		w.mustReconcile()
	}
	g.Expect(w.stack().Status.Failures).To(BeEquivalentTo(4))
	w.endNow(run.Succeeded, nil)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationUpdate))
}

func TestARunStoppedByAShutdownIsNoFailure(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	for range 3 {
		w.endNow(run.Cancelled, byForce)
		g.Expect(w.stack().Status.Failures).To(BeZero())
		w.mustReconcile()
		w.endNow(run.Succeeded, nil)
		w.mustReconcile()
		g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationUpdate), "at once")
	}
}
