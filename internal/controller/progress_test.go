// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

func TestAWaitingStackIsNotPolledForProgress(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.runner.full = true
	g.Expect(w.mustReconcile().RequeueAfter).To(BeZero(), "it is told when it is its turn")
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
	begun := w.writes

	clock = started.Add(43 * time.Second)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(43 * time.Second))
	g.Expect(w.writes).To(Equal(begun + 1))
	g.Expect(w.stack().Status.Run.Progress.Message).To(Equal("2 in progress"))
	clock = started.Add(85 * time.Second)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Second))
	g.Expect(w.writes).To(Equal(begun + 1))
}

func TestProgressText(t *testing.T) {
	for want, got := range map[string]string{
		"nothing is done yet":         progressText(v1.OperationUpdate, run.Progress{}),
		"1 in progress":               progressText(v1.OperationUpdate, run.Progress{InFlight: 1}),
		"1 updated, 4 unchanged":      progressText(v1.OperationUpdate, run.Progress{Done: run.Changes{Updated: 1, Same: 4}}),
		"2 to create, 1 in progress":  progressText(v1.OperationPreview, run.Progress{Done: run.Changes{Created: 2}, InFlight: 1}),
		run.StartingProgram:           progressText(v1.OperationUpdate, run.Progress{Waiting: run.StartingProgram}),
		"pod a waits for a node: 0/1": progressText(v1.OperationUpdate, run.Progress{Waiting: "pod a waits for a node: 0/1"}),
	} {
		NewWithT(t).Expect(got).To(Equal(want))
	}
}

func TestTheConditionsHaveTheProgress(t *testing.T) {
	for want, tt := range map[string]struct {
		record   v1.RunStatus
		progress run.Progress
		took     time.Duration
	}{
		"Running update: nothing is done yet after 11s":               {v1.RunStatus{Operation: v1.OperationUpdate}, run.Progress{}, 10600 * time.Millisecond},
		"Running preview at revision v1: 2 in progress after 1m0s":    {v1.RunStatus{Operation: v1.OperationPreview, Revision: "v1"}, run.Progress{InFlight: 2}, time.Minute},
		"Running destroy: pod a waits for a node: 0/1 nodes after 9s": {v1.RunStatus{Operation: v1.OperationDestroy}, run.Progress{Waiting: "pod a waits for a node: 0/1 nodes"}, 9 * time.Second},
	} {
		stack := &v1.Stack{}
		stack.Status.Run = &tt.record
		stack.Status.Run.StartedAt = metav1.Time{Time: started}
		markProgress(stack, tt.progress, started.Add(tt.took))
		NewWithT(t).Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal(want))
		NewWithT(t).Expect(conditions.GetMessage(stack, meta.ReconcilingCondition)).To(Equal(want))
	}
}

func TestWhatARunWaitsForIsWrittenWhenItChanges(t *testing.T) {
	waiting := func(text string) run.Progress { return run.Progress{Waiting: text} }
	told := func(p run.Progress) func(*v1.Stack) {
		return func(stack *v1.Stack) { markProgress(stack, p, started.Add(20*time.Second)) }
	}
	for name, tt := range map[string]struct {
		mark  func(*v1.Stack)
		now   run.Progress
		want  bool
		after time.Duration
	}{
		"only that the run has started":        {func(*v1.Stack) {}, run.Progress{}, false, 0},
		"its progress":                         {told(run.Progress{InFlight: 1}), run.Progress{InFlight: 2}, true, 20 * time.Second},
		"that nothing is known":                {told(run.Progress{}), run.Progress{InFlight: 2}, true, 20 * time.Second},
		"what it waits for":                    {told(waiting("pod a waits for a node: 0/1 nodes")), waiting("pod a waits for a node: 0/2 nodes"), true, 20 * time.Second},
		"that it waits for something else":     {told(waiting("pod a waits for a node: 0/1 nodes")), waiting("pod a is starting"), false, 20 * time.Second},
		"that it waits, but it no longer does": {told(waiting("pod a is starting")), run.Progress{}, false, 20 * time.Second},
		"its progress, but now it waits":       {told(run.Progress{InFlight: 1}), waiting("pod a is to end, and node b does not tell: ask"), false, 20 * time.Second},
		"that it is cancelled":                 {func(stack *v1.Stack) { stack.Status.Run.Cancel = v1.CancelGently }, run.Progress{}, true, 0},
		"that another controller has it": {func(stack *v1.Stack) {
			told(run.Progress{InFlight: 1})(stack)
			markHeldElsewhere(stack, heldText(stack))
		}, run.Progress{InFlight: 1}, false, 0},
		"nothing of a preview on request": {func(stack *v1.Stack) {
			stack.Status.Run.Operation, stack.Status.Run.PreviewRequest = v1.OperationPreview, "now"
		}, run.Progress{InFlight: 1}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			stack.Status.Run = &v1.RunStatus{Operation: v1.OperationUpdate, StartedAt: metav1.Time{Time: started}}
			tt.mark(stack)
			NewWithT(t).Expect(isProgressTold(stack.Status.Run, tt.now)).To(Equal(tt.want))
			NewWithT(t).Expect(toldAfter(stack.Status.Run)).To(Equal(tt.after))
		})
	}
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
	cancelling := "Cancelling run " + id + " (update): what is in flight may finish, for as long as --cancel-grace of the controller allows"
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
