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

func TestALongRunIsToldOfNowAndThen(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	clock := started
	w.Now = func() time.Time { return clock }
	var asked string
	w.Progress = func(id string) run.Progress {
		asked = id
		return run.Progress{Done: run.Changes{Created: 3}, InFlight: 2}
	}

	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(decide.ProgressAfter), "a run that has started is looked at")
	begun := w.writes
	id := w.stack().Status.Run.ID
	clock = started.Add(9 * time.Second)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Second))
	g.Expect(w.writes).To(Equal(begun), "not before its time")

	clock = started.Add(10 * time.Second)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(10 * time.Second))
	g.Expect(w.writes).To(Equal(begun + 1))
	g.Expect(asked).To(Equal(id))
	stack := w.stack()
	message := "Running update at revision " + commitA + ": 3 created, 2 in progress after 10s"
	for _, condition := range []string{meta.ReadyCondition, meta.ReconcilingCondition} {
		g.Expect(conditions.GetMessage(stack, condition)).To(Equal(message))
		g.Expect(conditions.GetReason(stack, condition)).To(Equal(meta.ProgressingReason))
	}
	g.Expect(conditions.IsUnknown(stack, meta.ReadyCondition)).To(BeTrue())
	g.Expect(stack.Status.Run.ID).To(Equal(id))

	for _, took := range []time.Duration{20, 40, 80, 140, 200} { // seconds
		clock = started.Add(took*time.Second - time.Second)
		g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Second))
		clock = started.Add(took * time.Second)
		g.Expect(w.mustReconcile().RequeueAfter).To(Equal(min(took*time.Second, time.Minute)))
		g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(HaveSuffix(": 3 created, 2 in progress after " + (took * time.Second).String()))
	}
	w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(begun+6), "twice as long each time, and then once a minute")
	begun += 5

	w.runner.end(id, run.Succeeded, "")
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(begun + 2))
	g.Expect(w.events.lines).To(HaveLen(1), "a line of the status is no event")
}

func TestAShortRunCostsNoWriteForItsProgress(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.run(run.Succeeded, "", run.Changes{})
	g.Expect(w.writes).To(Equal(3), "the finalizer, the start and the end")
}

func TestAStackThatWaitsIsNotLookedAtForItsProgress(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.runner.full = true
	g.Expect(w.mustReconcile().RequeueAfter).To(BeZero(), "it is told when it is its turn")
}

func TestProgressText(t *testing.T) {
	update, preview := v1.RunStatus{Operation: v1.OperationUpdate}, v1.RunStatus{Operation: v1.OperationPreview, Revision: "v1"}
	for want, got := range map[string]string{
		"Running update: nothing is done yet after 11s":                        progressText(&update, run.Progress{}, 10600*time.Millisecond),
		"Running update: 1 in progress after 10s":                              progressText(&update, run.Progress{InFlight: 1}, 10*time.Second),
		"Running update: 1 updated, 4 unchanged after 1m0s":                    progressText(&update, run.Progress{Done: run.Changes{Updated: 1, Same: 4}}, time.Minute),
		"Running preview at revision v1: 2 to create, 1 in progress after 12s": progressText(&preview, run.Progress{Done: run.Changes{Created: 2}, InFlight: 1}, 12*time.Second),
	} {
		NewWithT(t).Expect(got).To(Equal(want))
	}
}

func TestWhatARunWaitsForIsToldAnewWhenItIsAnotherThing(t *testing.T) {
	record := v1.RunStatus{Operation: v1.OperationUpdate}
	told := func(p run.Progress) string { return progressText(&record, p, 10*time.Second) }
	waiting := func(text string) run.Progress { return run.Progress{Waiting: text} }
	for name, tt := range map[string]struct {
		message string
		now     run.Progress
		want    bool
	}{
		"only that it has started":         {startText(&record) + "1h0m0s", run.Progress{}, false},
		"how far it has come":              {told(run.Progress{InFlight: 1}), run.Progress{InFlight: 2}, true},
		"that nothing is known":            {told(run.Progress{}), run.Progress{InFlight: 2}, true},
		"what it waits for":                {told(waiting("pod a waits for a node: 0/1 nodes")), waiting("pod a waits for a node: 0/2 nodes"), true},
		"what it does not wait for now":    {told(waiting("pod a waits for a node: 0/1 nodes")), waiting("pod a is being started"), false},
		"that it waits, and it does not":   {told(waiting("pod a is being started")), run.Progress{}, false},
		"that it does not wait, and it is": {told(run.Progress{InFlight: 1}), waiting("pod a is to end, and node b does not tell: ask"), false},
		"that it is cancelled":             {"Cancelling it", run.Progress{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			stack.Status.Run = &record
			conditions.MarkUnknown(stack, meta.ReadyCondition, meta.ProgressingReason, "%s", tt.message)
			NewWithT(t).Expect(isProgressTold(stack, tt.now)).To(Equal(tt.want), tt.message)
		})
	}
}

func TestWhatStandsInTheWayOfACancelIsTold(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	clock, waiting := started, ""
	w.Now = func() time.Time { return clock }
	w.Progress = func(string) run.Progress { return run.Progress{InFlight: 1, Waiting: waiting} }
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.edit(cancels(v1.CancelRunAnnotation, id))
	w.mustReconcile()
	cancelling := "Cancelling run " + id + " (update): what is in flight is finished"
	message := func() string { return conditions.GetMessage(w.stack(), meta.ReadyCondition) }
	g.Expect(message()).To(Equal(cancelling))
	writes := w.writes
	clock = started.Add(time.Minute)
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes), "how far it comes is not told any more")
	waiting = "the pod could not be asked: it is immutable"
	w.mustReconcile()
	g.Expect(message()).To(Equal(cancelling + ": " + waiting))
	clock = started.Add(time.Hour)
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes+1), "once")
}
