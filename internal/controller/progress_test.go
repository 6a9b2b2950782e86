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
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestTheProgressOfALongRunIsWrittenNowAndThen(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	clock := started
	w.Now = func() time.Time { return clock }
	var asked string
	w.runner.progress = func(id string) run.Progress {
		asked = id
		return run.Progress{Done: run.Changes{Created: 3}, InFlight: 2}
	}

	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(decide.ProgressAfter), "a run that has started is looked at")
	before := w.writes
	id := w.stack().Status.Run.ID
	clock = started.Add(9 * time.Second)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Second))
	g.Expect(w.writes).To(Equal(before), "not before its time")

	clock = started.Add(10 * time.Second)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(10 * time.Second))
	g.Expect(w.writes).To(Equal(before + 1))
	g.Expect(asked).To(Equal(id))
	stack := w.stack()
	message := "Running update at revision " + commitA + ": 3 created, 2 in progress after 10s"
	for _, condition := range []string{meta.ReadyCondition, meta.ReconcilingCondition} {
		g.Expect(conditions.GetMessage(stack, condition)).To(Equal(message))
		g.Expect(conditions.GetReason(stack, condition)).To(Equal(meta.ProgressingReason))
	}
	g.Expect(conditions.IsUnknown(stack, meta.ReadyCondition)).To(BeTrue())
	g.Expect(stack.Status.Run.ID).To(Equal(id))
	g.Expect(stack.Status.Run.Progress.Message).To(Equal("3 created, 2 in progress"))
	g.Expect(stack.Status.Run.Progress.WaitingFor).To(BeEmpty())
	g.Expect(stack.Status.Run.Progress.LastUpdateTime.Time).To(BeTemporally("==", clock))

	for _, took := range []time.Duration{20, 40, 80, 140, 200} { // seconds
		clock = started.Add(took*time.Second - time.Second)
		g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Second))
		clock = started.Add(took * time.Second)
		g.Expect(w.mustReconcile().RequeueAfter).To(Equal(min(took*time.Second, time.Minute)))
		g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(HaveSuffix(": 3 created, 2 in progress after " + (took * time.Second).String()))
	}
	w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(before+6), "twice as long each time, and then once a minute")
	before += 5

	w.runner.end(id, run.Succeeded, "")
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(before + 2))
	g.Expect(w.events.lines).To(HaveLen(1), "a line of the status is no event")
}

func TestAShortRunCostsNoWriteForItsProgress(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.run(run.Succeeded, "", run.Changes{})
	g.Expect(w.writes).To(Equal(3), "the finalizer, the start and the end")
}

func TestAWaitingStackIsNotPolledForProgress(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.runner.full = true
	g.Expect(w.mustReconcile().RequeueAfter).To(BeZero(), "it is reported when it is its turn")
}

// TestTheProgressWrittenByAnEarlierRelease: the earlier release wrote it to the
// conditions only. It is written once more at once, and from then on as often as any
// other.
func TestTheProgressWrittenByAnEarlierRelease(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	clock := started
	w.Now = func() time.Time { return clock }
	w.runner.progress = func(string) run.Progress { return run.Progress{InFlight: 2} }
	w.mustReconcile()
	clock = started.Add(40 * time.Second)
	w.mustReconcile()
	stack := w.stack()
	stack.Status.Run.Progress = nil
	g.Expect(w.Status().Update(t.Context(), stack)).To(Succeed())
	before := w.writes

	clock = started.Add(43 * time.Second)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(43 * time.Second))
	g.Expect(w.writes).To(Equal(before + 1))
	g.Expect(w.stack().Status.Run.Progress.Message).To(Equal("2 in progress"))
	clock = started.Add(85 * time.Second)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Second))
	g.Expect(w.writes).To(Equal(before + 1))
}

func TestWhatDelaysACancelIsWritten(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	clock, waiting := started, ""
	w.Now = func() time.Time { return clock }
	w.runner.progress = func(string) run.Progress { return run.Progress{InFlight: 1, Waiting: waiting} }
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.edit(cancels(v1.CancelRunAnnotation, id))
	w.mustReconcile()
	cancelling := "Cancelling run " + id + " (update): operations in flight may finish within the controller's --cancel-grace"
	message := func() string { return conditions.GetMessage(w.stack(), meta.ReadyCondition) }
	g.Expect(message()).To(Equal(cancelling))
	writes := w.writes
	clock = started.Add(time.Minute)
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes), "how far it comes is not reported any more")
	waiting = "the pod could not be asked: it is immutable"
	w.mustReconcile()
	g.Expect(message()).To(Equal(cancelling + ": " + waiting))
	clock = started.Add(time.Hour)
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes+1), "once")
}
