// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
	"github.com/flux-pulumi/pulumi-controller/tests/operator"
)

// takenOverWorld has a Stack that the operator has updated, after one reconcile.
func takenOverWorld(t *testing.T) *world {
	objects := programAndStack()
	operator.UpdatedByV2(objects[1].(*v1.Stack), "1", started.Add(-time.Hour))
	w := newWorld(t, objects...)
	w.mustReconcile()
	return w
}

func TestAStackIsTakenOverWithoutARun(t *testing.T) {
	g := NewWithT(t)
	w := takenOverWorld(t)
	stack := w.stack()
	g.Expect(w.runner.started).To(BeZero())
	g.Expect(conditions.IsReady(stack)).To(BeTrue())
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(And(
		HavePrefix("Applied revision: 1@sha256:"), ContainSubstring("taken over without a run")))
	g.Expect(stack.Status.LastAppliedDigest).NotTo(BeEmpty())
	g.Expect(stack.Status.LastAttemptedDigest).To(Equal(stack.Status.LastAppliedDigest))
	g.Expect(stack.Status.LastAppliedRevision).To(HavePrefix("1@sha256:"))
	g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
	g.Expect(stack.Status.ProjectInfo).To(Equal(&v1.ProjectInfo{Name: "app", Runtime: "yaml", UpdatedElsewhere: true}))
	g.Expect(stack.Finalizers).To(ContainElement(v1.StackFinalizer))
	g.Expect(w.events.lines).To(ConsistOf(ContainSubstring("taken over without a run")))

	writes := w.writes
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes), "nothing is written again")
	g.Expect(w.events.lines).To(HaveLen(1))
}

func TestAStackThatWasTakenOverIsRunWhenSomethingChanges(t *testing.T) {
	g := NewWithT(t)
	w := takenOverWorld(t)
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true; s.Generation++ })
	update := w.nextRun()
	g.Expect(update.Operation).To(Equal(run.Update))
	g.Expect(update.MustExist).To(BeTrue(), "no run has found the stack yet")
	w.endNow(run.Succeeded, func(r *run.Result) { r.Backend = "file:///state" })
	stack := w.stack()
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Applied revision: " + stack.Status.LastAppliedRevision))
	g.Expect(stackstatus.MustExist(stack)).To(BeFalse())
}

func TestAStackThatWasTakenOverIsRunOnRequest(t *testing.T) {
	w := takenOverWorld(t)
	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"} })
	NewWithT(t).Expect(w.nextRun().Operation).To(Equal(run.Update))
}

func TestAStackThatWasTakenOverIsDestroyed(t *testing.T) {
	g := NewWithT(t)
	w := takenOverWorld(t)
	g.Expect(w.Delete(context.Background(), &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}})).To(Succeed())
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	look := w.nextRun()
	g.Expect(look.Operation).To(Equal(run.Recover), "it is looked for before it is destroyed")
	g.Expect(look.MustExist).To(BeTrue())
	w.endNow(run.Succeeded, func(r *run.Result) { r.Backend = "file:///state" })
	destroy := w.nextRun()
	g.Expect(destroy.Operation).To(Equal(run.Destroy))
	g.Expect(destroy.Project).To(Equal(run.Project{Name: "app", Runtime: "yaml"}))
}

func TestWhatTheOperatorKnowsOfTheProjectIsKept(t *testing.T) {
	g := NewWithT(t)
	objects := programAndStack()
	stack := objects[1].(*v1.Stack)
	operator.UpdatedByV2(stack, "1", started.Add(-time.Hour))
	stack.Status.ProjectInfo = &v1.ProjectInfo{Name: "web", Runtime: "nodejs"}
	w := newWorld(t, objects...)
	w.mustReconcile()
	g.Expect(w.runner.started).To(BeZero())
	g.Expect(w.stack().Status.ProjectInfo).To(Equal(&v1.ProjectInfo{Name: "web", Runtime: "nodejs", UpdatedElsewhere: true}))
	g.Expect(stackstatus.MustExist(w.stack())).To(BeTrue())
}

func TestAStackOfTheOperatorIsRunIfThereIsWork(t *testing.T) {
	for name, change := range map[string]func(*v1.Stack){
		"someone asks in Flux's way": func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"} },
		"someone asks in the operator's way": func(s *v1.Stack) {
			s.Annotations = map[string]string{v1.ReconcileRequestAnnotation: "now"}
		},
		"the resync is due":            func(s *v1.Stack) { s.Spec.ContinueResyncOnCommitMatch = true },
		"it failed":                    func(s *v1.Stack) { s.Status.LastUpdate.State = v1.UpdateFailed },
		"an update of it is in flight": func(s *v1.Stack) { s.Status.CurrentUpdate = &v1.CurrentUpdate{Name: "app-1"} },
		"it only previews":             func(s *v1.Stack) { s.Spec.Preview = true },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			objects := programAndStack()
			operator.UpdatedByV2(objects[1].(*v1.Stack), "1", started.Add(-time.Hour))
			change(objects[1].(*v1.Stack))
			w := newWorld(t, objects...)
			w.mustReconcile()
			g.Expect(w.runner.started).To(Equal(1))
			g.Expect(w.stack().Status.CurrentUpdate).To(BeNil())
		})
	}
}

// A Stack that has nothing to run waits for no other, and makes no other run again.
func TestAStackIsTakenOverBeforeWhatItDependsOn(t *testing.T) {
	objects := programAndStack()
	stack := objects[1].(*v1.Stack)
	operator.UpdatedByV2(stack, "1", started.Add(-time.Hour))
	stack.Spec.Prerequisites = []v1.PrerequisiteReference{{Name: "network"}}
	w := newWorld(t, objects...)
	w.mustReconcile()
	NewWithT(t).Expect(conditions.IsReady(w.stack())).To(BeTrue())
}
