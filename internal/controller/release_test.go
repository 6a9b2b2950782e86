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
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func release(id string) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Annotations = map[string]string{v1.ReleaseRunAnnotation: id} }
}

func TestARunIsReleasedOnlyByItsID(t *testing.T) {
	g := NewWithT(t)
	w, lost := takenOver(t)
	for _, value := range []string{"", "true", "pod-1", lost + "0"} {
		w.edit(release(value))
		w.mustReconcile()
		g.Expect(w.stack().Status.Run).To(HaveField("ID", lost), value)
	}
	w.edit(release(lost))
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(stack.Status.Interrupted).To(HaveLen(1))
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.RunInterruptedReason))
	reported := "Run " + lost + " (update) of the controller on pod-1 was released by the annotation pulumi.com/release-run and counts as interrupted"
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal(reported))
	g.Expect(w.events.lines).To(Equal([]string{"Warning RunInterrupted " + reported}))

	recovery := w.nextRun()
	g.Expect(recovery.Operation).To(Equal(run.Recover))
	w.runner = newTestRunner()
	w.Runner, w.Holder.Instance = w.runner, "c"
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("ID", recovery.ID), "what is left of the word releases no other run")
	g.Expect(w.events.lines).To(HaveLen(1))
}

func TestARunThatIsInFlightHereIsNotReleased(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.edit(release(id))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("ID", id))
}

func TestTheReleaseAnnotationTriggersAReconcile(t *testing.T) {
	held := func(s *v1.Stack) { s.Status.Run = &v1.RunStatus{ID: "run-1"} }
	for _, test := range []struct {
		name          string
		before, after *v1.Stack
		want          bool
	}{
		{"the name of the run", stackOf("a", held), stackOf("a", held, release("run-1")), true},
		{"that of another", stackOf("a", held), stackOf("a", held, release("run-2")), false},
		{"no run to be released", stackOf("a"), stackOf("a", release("")), false},
		{"a write of ours", stackOf("a", held, release("run-1")), stackOf("a", held, release("run-1")), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			passes := runReleasedPredicate().Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after})
			NewWithT(t).Expect(passes).To(Equal(test.want))
		})
	}
}

// holdRun records a run of a process on a host that never comes back.
func (u *orderedTenant) holdRun(name, id string) {
	u.Eventually(func() error {
		stack := u.stack(name)
		stack.Status.Run = &v1.RunStatus{
			ID: id, Operation: v1.OperationUpdate, Generation: stack.Generation, StartedAt: metav1.Now(),
			Holder: v1.RunHolder{Host: "laptop", Instance: "boot/1/2/3/4:5"},
		}
		return u.Status().Update(u.ctx, stack)
	}).Should(Succeed())
	u.edit(name, func(s *v1.Stack) { s.Spec.Suspend = !s.Spec.Suspend }) // triggers a reconcile
	u.Eventually(func() string { return readyMessage(u.stack(name)) }).Should(And(
		ContainSubstring("Waiting for the controller on laptop"), ContainSubstring("pulumi.com/release-run="+id)))
}

func TestReleaseOnAnAPIServer(t *testing.T) {
	t.Parallel()
	// Nothing polls.
	hourly := func(r *StackReconciler) { r.Jitter = func(time.Duration) time.Duration { return time.Hour } }
	u := shardCluster(t, "release", hourly).tenant(t)
	u.createStack("a", inShard("release"))
	u.awaitReady("a")
	u.edit("a", func(s *v1.Stack) { s.Spec.Suspend = true })
	u.holdRun("a", "run-1")
	u.edit("a", release("run-0"))
	u.Consistently(func() *v1.RunStatus { return u.stack("a").Status.Run }, "500ms").Should(HaveField("ID", "run-1"))

	u.edit("a", release("run-1"))
	u.awaitReady("a")
	u.Expect(u.runs()).To(Equal([]string{"update a", "recover a", "update a"}))

	u.edit("a", func(s *v1.Stack) { s.Spec.Suspend = true })
	u.holdRun("a", "run-2")
	u.Consistently(func() *v1.RunStatus { return u.stack("a").Status.Run }, "500ms").Should(HaveField("ID", "run-2"), "the word was for another")
}
