// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func cancels(annotation, id string) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Annotations = map[string]string{annotation: id} }
}

func TestARunIsCancelledByItsNameAndNotStartedAgain(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	for _, value := range []string{"", "true", id + "0"} {
		w.edit(cancels(v1.CancelRunAnnotation, value))
		w.mustReconcile()
		g.Expect(w.runner.cancels).To(BeEmpty(), value)
	}
	w.edit(cancels(v1.CancelRunAnnotation, id))
	w.mustReconcile()
	g.Expect(w.runner.cancels).To(Equal(map[string]bool{id: false}))
	g.Expect(w.stack().Status.Run.Cancel).To(Equal(v1.CancelGently))
	writes := w.writes
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes))

	w.edit(cancels(v1.CancelRunNowAnnotation, id))
	w.mustReconcile()
	g.Expect(w.runner.cancels).To(Equal(map[string]bool{id: true}))
	w.edit(cancels(v1.CancelRunAnnotation, id))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Cancel).To(Equal(v1.CancelNow), "there is no way back")

	w.runner.end(id, run.Cancelled, "cancelled: requested by a user")
	w.mustReconcile()
	stack := w.stack()
	g.Expect(conditions.GetReason(stack, meta.StalledCondition)).To(Equal(v1.CancelRequestedReason))
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring("starts again only with a new revision"))
	g.Expect(stack.Status.Failures).To(BeZero())
	g.Expect(w.events.lines).To(HaveLen(1))
	g.Expect(w.events.lines[0]).To(HavePrefix("Warning CancelRequested Update of revision "))

	writes = w.writes
	w.passTime(100 * time.Hour)
	for range 3 {
		w.mustReconcile()
	}
	g.Expect(w.writes).To(Equal(writes), "nothing is said twice")
	g.Expect(w.runner.started).To(Equal(1), "and nothing is run")
	g.Expect(w.events.lines).To(HaveLen(1))

	// Another controller knows of it too, and a request starts the run again.
	w.runner = newTestRunner()
	w.Runner, w.Holder.Instance = w.runner, "b"
	w.mustReconcile()
	g.Expect(w.runner.started).To(BeZero())
	w.edit(func(s *v1.Stack) { s.Annotations[meta.ReconcileRequestAnnotation] = "now" })
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(w.stack().Status.CancelledRun).To(BeNil())
	g.Expect(conditions.IsStalled(w.stack())).To(BeFalse())
}

func TestWhatBeginsACancelledRunAgain(t *testing.T) {
	for name, change := range map[string]func(*v1.Stack){
		"an edit of the spec": func(s *v1.Stack) { s.Generation++ },
		"a request":           func(s *v1.Stack) { s.Annotations[meta.ReconcileRequestAnnotation] = "now" },
		"other inputs":        func(s *v1.Stack) { s.Spec.Targets = []string{"urn:pulumi:dev::app::a:b:C::d"} },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			w.mustReconcile()
			id := w.stack().Status.Run.ID
			w.edit(cancels(v1.CancelRunAnnotation, id))
			w.mustReconcile()
			w.runner.end(id, run.Cancelled, "")
			w.mustReconcile()
			w.edit(change)
			w.mustReconcile()
			g.Expect(w.runner.started).To(Equal(2))
			g.Expect(w.runner.cancels).To(HaveLen(1), "an annotation that is still there cancels no other run")
			// flux pulumi cancel may look only now, and must be able to tell that the run was cancelled.
			now := w.stack().Status
			g.Expect(now.Run.ID).NotTo(Equal(id))
			g.Expect(now.CancelledRun).To(BeNil())
			g.Expect(now.LastUpdate.Name).To(Equal(id))
			g.Expect(now.LastUpdate.Reason).To(Equal(v1.CancelRequestedReason))
			g.Expect(now.LastUpdate.Message).To(ContainSubstring("was cancelled on request"))
		})
	}
}

func TestACancelTakesBackWhatWasAskedForBeforeIt(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "before"} })
	w.mustReconcile()
	g.Expect(w.stack().Status.LastHandledReconcileAt).To(BeEmpty(), "a request waits for the end of the run")
	w.edit(func(s *v1.Stack) { s.Annotations[v1.CancelRunAnnotation] = id })
	w.mustReconcile()
	g.Expect(w.stack().Status.LastHandledReconcileAt).To(Equal("before"))
	w.runner.end(id, run.Cancelled, "")
	for range 3 {
		w.mustReconcile()
	}
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(conditions.GetReason(w.stack(), meta.StalledCondition)).To(Equal(v1.CancelRequestedReason))
	w.edit(func(s *v1.Stack) { s.Annotations[meta.ReconcileRequestAnnotation] = "after" })
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2))
}

func TestARunThatSucceedsAllTheSameWasNotCancelled(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.edit(cancels(v1.CancelRunAnnotation, id))
	w.mustReconcile()
	w.runner.end(id, run.Succeeded, "")
	w.mustReconcile()
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(w.stack().Status.CancelledRun).To(BeNil())
}

func TestACancelledRunIsRecoveredFromAndStaysCancelled(t *testing.T) {
	for name, lose := range map[string]func(w *world, id string){
		"killed by the second signal": func(w *world, id string) {
			w.runner.end(id, run.Cancelled, "cancelled")
			w.runner.results[id].Interrupted = true
		},
		"its controller died": func(w *world, _ string) {
			w.runner = newTestRunner()
			w.Runner, w.Holder.Instance, w.others.gone = w.runner, "b", true
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			w.mustReconcile()
			id := w.stack().Status.Run.ID
			w.edit(cancels(v1.CancelRunNowAnnotation, id))
			w.mustReconcile()
			lose(w, id)
			w.mustReconcile()
			g.Expect(conditions.IsStalled(w.stack())).To(BeFalse())
			recovery := w.nextRun()
			g.Expect(recovery.Operation).To(Equal(run.Recover))
			w.runner.end(recovery.ID, run.Succeeded, "")
			w.mustReconcile()
			w.mustReconcile()
			w.passTime(100 * time.Hour)
			w.mustReconcile()
			stack := w.stack()
			g.Expect(stack.Status.Run).To(BeNil())
			g.Expect(stack.Status.Interrupted).To(BeEmpty())
			g.Expect(conditions.GetReason(stack, meta.StalledCondition)).To(Equal(v1.CancelRequestedReason))
		})
	}
}

func TestTheWordThatCancelsARunWakesItsStack(t *testing.T) {
	held := func(s *v1.Stack) { s.Status.Run = &v1.RunStatus{ID: "run-1", Operation: v1.OperationUpdate} }
	for _, test := range []struct {
		name          string
		before, after *v1.Stack
		want          bool
	}{
		{"the name of the run", stackOf("a", held), stackOf("a", held, cancels(v1.CancelRunAnnotation, "run-1")), true},
		{"now, after gently", stackOf("a", held, cancels(v1.CancelRunAnnotation, "run-1")),
			stackOf("a", held, cancels(v1.CancelRunNowAnnotation, "run-1")), true},
		{"that of another", stackOf("a", held), stackOf("a", held, cancels(v1.CancelRunAnnotation, "run-2")), false},
		{"no run to be cancelled", stackOf("a"), stackOf("a", cancels(v1.CancelRunAnnotation, "run-1")), false},
		{"a write of ours", stackOf("a", held, cancels(v1.CancelRunAnnotation, "run-1")),
			stackOf("a", held, cancels(v1.CancelRunAnnotation, "run-1")), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			passes := runCancelledPredicate().Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after})
			NewWithT(t).Expect(passes).To(Equal(test.want))
		})
	}
}
