// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// endEdited edits the Stack while its run is in flight, ends the run and returns its ID.
func (w *world) endEdited(outcome run.Outcome, edit func(*v1.Stack)) string {
	w.t.Helper()
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.edit(func(s *v1.Stack) { edit(s); s.Generation++ })
	w.mustReconcile()
	w.endRun(outcome, "no luck", run.Changes{Created: 1})
	return id
}

func TestAFailureOfAnOlderGenerationDoesNotSpeakForTheNewerOne(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	id := w.endEdited(run.Failed, func(s *v1.Stack) { s.Spec.Refresh = true })
	stack := w.stack()
	g.Expect(conditions.IsUnknown(stack, meta.ReadyCondition)).To(BeTrue())
	g.Expect(conditions.IsReconciling(stack)).To(BeTrue())
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(
		Equal("Run " + id + " (update) ended with UpdateFailed at generation 1; generation 2 is next"))
	g.Expect(stack.Status.ObservedGeneration).To(BeZero())
	g.Expect(stack.Status.Failures).To(BeEquivalentTo(1))
	g.Expect(stack.Status.LastUpdate.Reason).To(Equal(v1.UpdateFailedReason))
	g.Expect(stack.Status.LastUpdate.Message).To(Equal("no luck"))
	g.Expect(stack.Status.LastUpdate.Generation).To(BeEquivalentTo(1))
	g.Expect(w.events.lines).To(ConsistOf("Warning UpdateFailed Update failed: no luck"))

	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Generation).To(BeEquivalentTo(2), "other inputs do not wait")
}

func TestALostRunOfAnOlderGenerationDoesNotSpeakForTheNewerOne(t *testing.T) {
	g := NewWithT(t)
	w, lost := takenOver(t)
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true; s.Generation++ })
	w.others.gone = true
	w.mustReconcile()
	stack := w.stack()
	g.Expect(conditions.IsUnknown(stack, meta.ReadyCondition)).To(BeTrue())
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(
		Equal("The controller on pod-1 that had run " + lost + " (update) is gone at generation 1; generation 2 is next"))
	g.Expect(stack.Status.LastUpdate.Generation).To(BeEquivalentTo(1))
	g.Expect(stack.Status.LastUpdate.Reason).To(Equal(v1.RunInterruptedReason))
}

func TestARecoveryOfAnOlderGenerationDoesNotSpeakForTheNewerOne(t *testing.T) {
	g := NewWithT(t)
	w, _ := takenOver(t)
	w.others.gone = true
	w.mustReconcile()
	id := w.nextRun().ID
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true; s.Generation++ })
	w.endNow(run.Failed, nil)
	stack := w.stack()
	g.Expect(conditions.IsUnknown(stack, meta.ReadyCondition)).To(BeTrue())
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(
		Equal("Run " + id + " (recover) ended with RecoveryFailed at generation 1; generation 2 is next"))
	g.Expect(stack.Status.LastUpdate.Reason).To(Equal(v1.RecoveryFailedReason))
}

func TestAFailureIsTriedAgainAtOnceForANewerGenerationWithTheSameInputs(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.endEdited(run.Failed, func(s *v1.Stack) { s.Spec.DestroyOnFinalize = true })
	g.Expect(w.nextRun().Operation).To(Equal(run.Update), "the edit may be what mends it")
	g.Expect(w.stack().Status.Run.Generation).To(BeEquivalentTo(2))
	w.endNow(run.Failed, func(r *run.Result) { r.Message = "no luck" })
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.Run).To(BeNil(), "it waits for the retry interval, as nothing was edited since")
	g.Expect(conditions.IsFalse(stack, meta.ReadyCondition)).To(BeTrue())
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("no luck"))
}

func TestAStackSuspendedInMidRunReportsHowItEnded(t *testing.T) {
	suspend := func(s *v1.Stack) { s.Spec.Suspend = true }
	t.Run("succeeded", func(t *testing.T) {
		g := NewWithT(t)
		w, _ := sourceWorld(t)
		w.endEdited(run.Succeeded, suspend)
		w.mustReconcile()
		stack := w.stack()
		g.Expect(conditions.IsReady(stack)).To(BeTrue())
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Applied revision: " + commitA))
		g.Expect(conditions.Has(stack, meta.ReconcilingCondition)).To(BeFalse())
		g.Expect(conditions.Get(stack, meta.ReadyCondition).ObservedGeneration).To(BeEquivalentTo(1), "as that of a Stack that is suspended later")
		g.Expect(stack.Status.ObservedGeneration).To(BeEquivalentTo(1))
		g.Expect(stack.Generation).To(BeEquivalentTo(2))
		g.Expect(w.events.commitStatuses).To(HaveLen(1), "the commit is reported at once")

		w.edit(func(s *v1.Stack) { s.Spec.Suspend = false; s.Generation++ })
		w.mustReconcile()
		stack = w.stack()
		g.Expect(w.runner.started).To(Equal(1))
		g.Expect(conditions.IsReady(stack)).To(BeTrue())
		g.Expect(stack.Status.ObservedGeneration).To(BeEquivalentTo(3))
	})
	t.Run("failed", func(t *testing.T) {
		g := NewWithT(t)
		w, _ := sourceWorld(t)
		w.endEdited(run.Failed, suspend)
		w.mustReconcile()
		stack := w.stack()
		g.Expect(conditions.IsFalse(stack, meta.ReadyCondition)).To(BeTrue())
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("no luck"))
		g.Expect(conditions.Get(stack, meta.ReadyCondition).ObservedGeneration).To(BeEquivalentTo(1))
	})
	t.Run("previewed", func(t *testing.T) {
		g := NewWithT(t)
		w, _ := sourceWorld(t, func(s *v1.Stack) { s.Spec.Preview = true })
		w.endEdited(run.Succeeded, suspend)
		w.mustReconcile()
		stack := w.stack()
		g.Expect(conditions.IsReady(stack)).To(BeTrue())
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Previewed revision " + commitA + ": 1 to create"))
	})
}
