// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	aclv1 "github.com/fluxcd/pkg/apis/acl"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// These tests are about how one reconcile depends on other Stacks, and about which Stacks
// an event enqueues. order_api_test.go tests all of it together on a real API server.

func orderedStack(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: "default", Name: name}
}

// stackOf returns a Stack of the shared Program.
func stackOf(name string, changes ...func(*v1.Stack)) *v1.Stack {
	stack := &v1.Stack{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Generation: 1},
		Spec: v1.StackSpec{
			Stack: name, Backend: "file:///state", ProgramRef: &v1.ProgramReference{Name: "app"}, DestroyOnFinalize: true,
			RetryInterval: &metav1.Duration{Duration: time.Minute},
		},
	}
	for _, change := range changes {
		change(stack)
	}
	return stack
}

func dependsOn(names ...string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Spec.DependsOn = nil
		for _, name := range names {
			s.Spec.DependsOn = append(s.Spec.DependsOn, v1.DependencyReference{Name: name})
		}
	}
}

func inNamespace(namespace string) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Namespace = namespace }
}

func requires(name string, within time.Duration) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Spec.Prerequisites = []v1.PrerequisiteReference{{Name: name, Requirement: &v1.PrerequisiteRequirement{
			SucceededWithinDuration: &metav1.Duration{Duration: within},
		}}}
	}
}

// newOrderedWorld has the given Stacks, and the Program that they share.
func newOrderedWorld(t *testing.T, stacks ...*v1.Stack) *world {
	objects := []client.Object{&v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", Generation: 1}}}
	for _, stack := range stacks {
		objects = append(objects, stack)
	}
	return newWorld(t, objects...)
}

func (w *world) reconcileOf(name string) ctrl.Result {
	w.t.Helper()
	result, err := w.Reconcile(context.Background(), ctrl.Request{NamespacedName: orderedStack(name)})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	return result
}

func (w *world) stackNamed(name string) *v1.Stack {
	w.t.Helper()
	stack := &v1.Stack{}
	NewWithT(w.t).Expect(w.Get(context.Background(), orderedStack(name), stack)).To(Succeed())
	return stack
}

func (w *world) editOf(name string, change func(*v1.Stack)) {
	w.t.Helper()
	stack := w.stackNamed(name)
	change(stack)
	NewWithT(w.t).Expect(w.Update(context.Background(), stack)).To(Succeed())
}

// settle runs a Stack to success.
func (w *world) settle(name string) {
	w.t.Helper()
	w.reconcileOf(name)
	record := w.stackNamed(name).Status.Run
	NewWithT(w.t).Expect(record).NotTo(BeNil(), "%s does not run: %v", name, w.stackNamed(name).Status.Conditions)
	w.runner.end(record.ID, run.Succeeded, "")
	w.reconcileOf(name)
}

func readyMessage(stack *v1.Stack) string { return conditions.GetMessage(stack, meta.ReadyCondition) }

func TestADependencyThatIsAlsoAPrerequisiteIsNamedOnce(t *testing.T) {
	stack := stackOf("b", dependsOn("a"))
	stack.Spec.Prerequisites = []v1.PrerequisiteReference{{Name: "a"}}
	w := newOrderedWorld(t, stack)
	w.reconcileOf("b")
	NewWithT(t).Expect(readyMessage(w.stackNamed("b"))).To(Equal("Dependencies are not ready: Stack default/a not found"))
}

func TestADependentWaitsAndSaysForWhat(t *testing.T) {
	g := NewWithT(t)
	w := newOrderedWorld(t, stackOf("b", dependsOn("a")))

	result := w.reconcileOf("b")
	stack := w.stackNamed("b")
	g.Expect(w.runner.started).To(BeZero())
	g.Expect(stack.Finalizers).To(BeEmpty(), "nothing of it exists yet")
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(meta.DependencyNotReadyReason))
	g.Expect(readyMessage(stack)).To(Equal("Dependencies are not ready: Stack default/a not found"))
	g.Expect(conditions.GetReason(stack, meta.ReconcilingCondition)).To(Equal(meta.ProgressingWithRetryReason))
	g.Expect(result.RequeueAfter).To(Equal(time.Minute))
	g.Expect(w.events.lines).To(ConsistOf("Normal DependencyNotReady Dependencies are not ready: Stack default/a not found"))

	writes := w.writes
	w.reconcileOf("b")
	g.Expect(w.writes).To(Equal(writes), "nothing is written, and nothing reported, twice")
	g.Expect(w.events.lines).To(HaveLen(1))

	g.Expect(w.Create(context.Background(), stackOf("a"))).To(Succeed())
	w.reconcileOf("b")
	g.Expect(readyMessage(w.stackNamed("b"))).To(Equal("Dependencies are not ready: Stack default/a is not ready"))
	w.settle("a")
	w.settle("b")
	g.Expect(conditions.IsReady(w.stackNamed("b"))).To(BeTrue())
}

func TestARequestIsKeptUntilTheDependencyIsReady(t *testing.T) {
	g := NewWithT(t)
	w := newOrderedWorld(t, stackOf("a"), stackOf("b", dependsOn("a")))
	w.settle("a")
	w.settle("b")
	w.editOf("a", func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "1"} })
	w.reconcileOf("a")
	w.editOf("b", func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "2"} })

	w.reconcileOf("b")
	g.Expect(w.stackNamed("b").Status.LastHandledReconcileAt).To(BeEmpty(), "it asks for a run, and that is yet to come")
	w.runner.end(w.stackNamed("a").Status.Run.ID, run.Succeeded, "")
	w.reconcileOf("a")
	w.settle("b")
	g.Expect(w.stackNamed("b").Status.LastHandledReconcileAt).To(Equal("2"))
	g.Expect(w.runner.started).To(Equal(4))
}

func TestAStackInSyncIsLeftAloneWhenItsDependencyIsBusy(t *testing.T) {
	g := NewWithT(t)
	w := newOrderedWorld(t, stackOf("a"), stackOf("b", dependsOn("a")))
	w.settle("a")
	w.settle("b")
	w.editOf("a", func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "1"} })
	w.reconcileOf("a")
	g.Expect(conditions.IsReady(w.stackNamed("a"))).To(BeFalse())
	writes := w.writes
	w.reconcileOf("b")
	g.Expect(conditions.IsReady(w.stackNamed("b"))).To(BeTrue())
	g.Expect(w.writes).To(Equal(writes))
}

func TestFaultsInTheOrder(t *testing.T) {
	readyExpr := func(text string) func(*v1.Stack) {
		return func(s *v1.Stack) { s.Spec.DependsOn = []v1.DependencyReference{{Name: "a", ReadyExpr: text}} }
	}
	for _, test := range []struct {
		name    string
		stack   *v1.Stack
		reason  string
		message string
	}{
		{"on itself", stackOf("b", dependsOn("a", "b")), v1.InvalidSpecReason, "spec.dependsOn[1]: Stack default/b cannot depend on itself"},
		{"a prerequisite of itself", stackOf("b", requires("b", time.Hour)), v1.InvalidSpecReason, "spec.prerequisites[0]: Stack default/b cannot depend on itself"},
		{"in another namespace", stackOf("b", func(s *v1.Stack) {
			s.Spec.DependsOn = []v1.DependencyReference{{Name: "a", Namespace: "other"}}
		}), aclv1.AccessDeniedReason, "spec.dependsOn[0]: cross-namespace references have been blocked, Stack other/a is in another namespace"},
		{"an expression that does not compile", stackOf("b", readyExpr("dep.x ==")), v1.InvalidSpecReason, "spec.dependsOn[0].readyExpr: ERROR: <input>:1:9: Syntax error"},
		{"an expression that is no boolean", stackOf("b", readyExpr("dep.metadata.name")), v1.InvalidSpecReason, "expected bool, got dyn"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			w := newOrderedWorld(t, stackOf("a"), test.stack)
			g.Expect(w.reconcileOf("b").RequeueAfter).To(BeZero())
			stack := w.stackNamed("b")
			g.Expect(conditions.GetReason(stack, meta.StalledCondition)).To(Equal(test.reason))
			g.Expect(readyMessage(stack)).To(ContainSubstring(test.message))
			g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
			g.Expect(w.runner.started).To(BeZero())
		})
	}
}

func TestAnExpressionReplacesTheBuiltInCheckOrAddsToIt(t *testing.T) {
	named := func(expression string) func(*v1.Stack) {
		return func(s *v1.Stack) { s.Spec.DependsOn = []v1.DependencyReference{{Name: "a", ReadyExpr: expression}} }
	}
	for _, test := range []struct {
		name, expression, want string
		additive               bool
	}{
		{"it holds, although the dependency is not Ready", `dep.metadata.name == 'a' && self.metadata.name == 'b'`, "", false},
		{"it does not hold", `dep.metadata.name == 'x'`, "Stack default/a does not meet its readyExpr", false},
		{"it cannot be evaluated yet", `dep.status.outputs.zone == 'eu'`, "cannot be evaluated: no such key: outputs", false},
		{"it holds, but the built-in check counts as well", `true`, "Stack default/a is not ready", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			w := newOrderedWorld(t, stackOf("a"), stackOf("b", named(test.expression)))
			w.AdditiveCELDependencyCheck = test.additive
			w.reconcileOf("b")
			if test.want == "" {
				g.Expect(w.stackNamed("b").Status.Run).NotTo(BeNil())
				return
			}
			g.Expect(w.stackNamed("b").Status.Run).To(BeNil())
			g.Expect(readyMessage(w.stackNamed("b"))).To(ContainSubstring(test.want))
			g.Expect(conditions.IsStalled(w.stackNamed("b"))).To(BeFalse())
		})
	}
}

func TestACycleIsReportedOnEachStackInIt(t *testing.T) {
	g := NewWithT(t)
	w := newOrderedWorld(t, stackOf("a", dependsOn("b")), stackOf("b", requires("c", time.Hour)), stackOf("c", dependsOn("a")),
		stackOf("d", dependsOn("a")))
	for name, message := range map[string]string{
		"a": "default/a -> default/b -> default/c -> default/a",
		"b": "default/b -> default/c -> default/a -> default/b",
		"c": "default/c -> default/a -> default/b -> default/c",
	} {
		w.reconcileOf(name)
		g.Expect(conditions.GetReason(w.stackNamed(name), meta.StalledCondition)).To(Equal(v1.InvalidSpecReason))
		g.Expect(readyMessage(w.stackNamed(name))).To(ContainSubstring(message))
	}
	w.reconcileOf("d")
	g.Expect(conditions.GetReason(w.stackNamed("d"), meta.ReadyCondition)).To(Equal(meta.DependencyNotReadyReason),
		"one that only leads into the circle is not in it")
}

func TestAStalePrerequisiteIsRequestedOnce(t *testing.T) {
	g := NewWithT(t)
	w := newOrderedWorld(t, stackOf("a"), stackOf("b", requires("a", time.Hour)), stackOf("c", requires("a", 2*time.Hour)))
	w.settle("a")
	clock := started.Add(3 * time.Hour)
	w.Now = func() time.Time { return clock }

	w.reconcileOf("b")
	asked := w.stackNamed("a").Annotations[meta.ReconcileRequestAnnotation]
	g.Expect(asked).To(HavePrefix("prerequisite-after-"))
	g.Expect(readyMessage(w.stackNamed("b"))).To(Equal(
		"Dependencies are not ready: Stack default/a last succeeded more than 1h0m0s ago and was asked to run again"))
	w.reconcileOf("c")
	writes := w.writes
	for range 3 {
		w.reconcileOf("b")
		w.reconcileOf("c")
	}
	g.Expect(w.writes).To(Equal(writes), "once for all that need it")

	w.reconcileOf("a")
	record := w.stackNamed("a").Status.Run
	g.Expect(record).NotTo(BeNil())
	w.runner.results[record.ID] = &run.Result{Outcome: run.Succeeded, Project: run.Project{Name: "app"}, StartedAt: clock, EndedAt: clock}
	w.reconcileOf("a")
	w.settle("b")
	w.settle("c")
	g.Expect(w.stackNamed("a").Annotations[meta.ReconcileRequestAnnotation]).To(Equal(asked), "it was not asked again")
}

func TestAPrerequisiteWithARequestIsNotRequestedAgain(t *testing.T) {
	g := NewWithT(t)
	w := newOrderedWorld(t, stackOf("a"), stackOf("b", requires("a", time.Hour)))
	w.settle("a")
	w.Now = func() time.Time { return started.Add(3 * time.Hour) }
	w.editOf("a", func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "by hand"} })
	w.reconcileOf("b")
	g.Expect(w.stackNamed("a").Annotations[meta.ReconcileRequestAnnotation]).To(Equal("by hand"))
}

func TestAStackInSyncRequestsNoStalePrerequisite(t *testing.T) {
	g := NewWithT(t)
	w := newOrderedWorld(t, stackOf("a"), stackOf("b", requires("a", time.Hour)))
	w.settle("a")
	w.settle("b")
	w.Now = func() time.Time { return started.Add(3 * time.Hour) }
	writes := w.writes
	w.reconcileOf("b")
	g.Expect(w.writes).To(Equal(writes))
	g.Expect(w.stackNamed("a").Annotations).To(BeEmpty())
}

func TestDeletionGoesInReverse(t *testing.T) {
	ctx := context.Background()
	gone := func(w *world, name string) bool {
		return apierrors.IsNotFound(w.Get(ctx, orderedStack(name), &v1.Stack{}))
	}

	t.Run("a Stack waits for those that depend on it", func(t *testing.T) {
		g := NewWithT(t)
		w := newOrderedWorld(t, stackOf("a"), stackOf("b", dependsOn("a")), stackOf("c", requires("a", time.Hour)))
		w.settle("a")
		w.settle("b")
		for _, name := range []string{"a", "b", "c"} {
			g.Expect(w.Delete(ctx, w.stackNamed(name))).To(Succeed())
		}
		g.Expect(gone(w, "c")).To(BeTrue(), "it never ran")
		w.reconcileOf("a")
		stack := w.stackNamed("a")
		g.Expect(stack.Status.Run).To(BeNil())
		g.Expect(stack.Finalizers).To(ConsistOf(v1.StackFinalizer))
		g.Expect(readyMessage(stack)).To(Equal("Waiting for Stack default/b, which depends on this Stack, to be deleted"))
		g.Expect(conditions.GetReason(stack, meta.ReconcilingCondition)).To(Equal(meta.ProgressingReason))
		g.Expect(w.events.lines).To(ContainElement("Normal Progressing " + readyMessage(stack)))

		w.settle("b") // destroys
		w.reconcileOf("b")
		g.Expect(gone(w, "b")).To(BeTrue())
		w.settle("a")
		w.reconcileOf("a")
		g.Expect(gone(w, "a")).To(BeTrue())
	})
	t.Run("even for a suspended one", func(t *testing.T) {
		g := NewWithT(t)
		w := newOrderedWorld(t, stackOf("a"), stackOf("b", dependsOn("a"), func(s *v1.Stack) { s.Spec.Suspend = true }))
		w.settle("a")
		g.Expect(w.Delete(ctx, w.stackNamed("a"))).To(Succeed())
		w.reconcileOf("a")
		g.Expect(w.stackNamed("a").Status.Run).To(BeNil())
	})
	t.Run("but not for those in its own cycle", func(t *testing.T) {
		g := NewWithT(t)
		w := newOrderedWorld(t, stackOf("a"), stackOf("b", dependsOn("a")), stackOf("c", dependsOn("b")))
		w.settle("a")
		w.editOf("a", dependsOn("c"))
		g.Expect(w.Delete(ctx, w.stackNamed("a"))).To(Succeed())
		w.reconcileOf("a")
		g.Expect(w.stackNamed("a").Status.Run).NotTo(BeNil())
	})
	t.Run("and for those of another namespace only if that is allowed", func(t *testing.T) {
		for _, denied := range []bool{true, false} {
			g := NewWithT(t)
			w := newOrderedWorld(t, stackOf("a"), stackOf("b", inNamespace("other"), func(s *v1.Stack) {
				s.Spec.DependsOn = []v1.DependencyReference{{Name: "a", Namespace: "default"}}
			}))
			w.NoCrossNamespaceRefs = denied
			w.settle("a")
			g.Expect(w.Delete(ctx, w.stackNamed("a"))).To(Succeed())
			w.reconcileOf("a")
			g.Expect(w.stackNamed("a").Status.Run != nil).To(Equal(denied))
		}
	})
	t.Run("one that has nothing to undo goes at once", func(t *testing.T) {
		g := NewWithT(t)
		w := newOrderedWorld(t, stackOf("a", func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false }), stackOf("b", dependsOn("a")))
		w.settle("a")
		g.Expect(w.Delete(ctx, w.stackNamed("a"))).To(Succeed())
		w.reconcileOf("a")
		g.Expect(gone(w, "a")).To(BeTrue())
	})
}

// woken drains a queue after a change.
func woken(tell func(queue)) []string {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
	tell(q)
	names := []string{}
	for q.Len() > 0 {
		request, _ := q.Get()
		names = append(names, request.Name)
		q.Done(request)
	}
	q.ShutDown()
	return names
}

func TestAChangeEnqueuesTheStacksItConcerns(t *testing.T) {
	// c -> b -> a, and x has a readyExpr for a.
	w := newOrderedWorld(t, stackOf("a"), stackOf("b", dependsOn("a")), stackOf("c", dependsOn("b")), stackOf("x", func(s *v1.Stack) {
		s.Spec.DependsOn = []v1.DependencyReference{{Name: "a", ReadyExpr: "true"}}
	}), stackOf("y", inNamespace("other"), func(s *v1.Stack) {
		s.Spec.DependsOn = []v1.DependencyReference{{Name: "a", Namespace: "default"}}
	}))
	ready := func(s *v1.Stack) {
		s.Status.ObservedGeneration = s.Generation
		conditions.MarkTrue(s, meta.ReadyCondition, meta.ReconciliationSucceededReason, "ok")
	}
	version := func(v string) func(*v1.Stack) { return func(s *v1.Stack) { s.ResourceVersion = v } }
	h := w.orderHandler()
	update := func(before, after *v1.Stack) func(queue) {
		return func(q queue) { h.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q) }
	}
	for _, test := range []struct {
		name string
		tell func(queue)
		want []string
	}{
		{"a new Stack: all that depend on it, directly or not",
			func(q queue) { h.Create(t.Context(), event.CreateEvent{Object: stackOf("a")}, q) }, []string{"b", "c", "x"}},
		{"at the start all are looked at anyway",
			func(q queue) {
				h.Create(t.Context(), event.CreateEvent{Object: stackOf("a"), IsInInitialList: true}, q)
			}, []string{}},
		{"one that is gone: and those that it depended on",
			func(q queue) { h.Delete(t.Context(), event.DeleteEvent{Object: stackOf("b", dependsOn("a"))}, q) }, []string{"a", "c"}},
		{"ready: those that depend on it directly", update(stackOf("a"), stackOf("a", ready, version("2"))), []string{"b", "x"}},
		{"no longer ready: only an expression may care", update(stackOf("a", ready), stackOf("a", version("2"))), []string{"x"}},
		{"a resync of the cache", update(stackOf("a", ready), stackOf("a", ready)), []string{}},
		{"other dependencies: all that depend on it, and those that it leaves",
			update(stackOf("b", dependsOn("a")), stackOf("b", dependsOn("z"), version("2"))), []string{"a", "c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			NewWithT(t).Expect(woken(test.tell)).To(ConsistOf(test.want))
		})
	}
}

func TestAWriteToAPrerequisiteThatIsRefusedIsTriedAgain(t *testing.T) {
	g := NewWithT(t)
	w := newOrderedWorld(t, stackOf("a"), stackOf("b", requires("a", time.Hour)))
	w.settle("a")
	w.Now = func() time.Time { return started.Add(3 * time.Hour) }
	w.failWrite = func(int) error {
		return apierrors.NewConflict(schema.GroupResource{Resource: "stacks"}, "a", nil)
	}
	g.Expect(w.reconcileOf("b").RequeueAfter).To(Equal(watches.ConflictRetry))
	w.failWrite = nil
	w.reconcileOf("b")
	g.Expect(w.stackNamed("a").Annotations).To(HaveKey(meta.ReconcileRequestAnnotation))
}
