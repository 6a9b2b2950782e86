// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
)

// These tests are about which Stack enqueues which, so they need the real watches, on a
// real API server. None of their Stacks polls within the day: whatever happens sooner
// was triggered by an event.

// promptRunner records its runs, which succeed at once.
type promptRunner struct {
	mu    sync.Mutex
	inner *testRunner
	waker *watches.Waker
	now   func() time.Time
	lines []string
	// started are all runs.
	started []run.Run
	// violates says which policies a run violates. Nil is none.
	violates func(run.Run) run.Violations
}

func (r *promptRunner) Reserve(namespace, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inner.Reserve(namespace, name)
}

func (r *promptRunner) Release(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inner.Release(namespace, name)
}

func (r *promptRunner) Postpone(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inner.Postpone(namespace, name)
}

// Background has as many slots as are asked for, as has the runner itself.
func (r *promptRunner) Background() run.Slots { return r }

func (r *promptRunner) Ended() []run.Ref { return nil }

func (r *promptRunner) Report(run.Ref) run.Report { return run.Report{} }

func (r *promptRunner) ConfirmFound(run.Ref, run.Found) {}

func (r *promptRunner) Closed() bool { return false }

func (r *promptRunner) Cancel(run.Ref, bool) error { return nil }

func (r *promptRunner) Look(of run.Ref) (run.Phase, *run.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inner.Look(of)
}

func (r *promptRunner) Forget(of run.Ref) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inner.Forget(of)
}

func (r *promptRunner) Start(todo run.Run) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, todo.Namespace+" "+string(todo.Operation)+" "+todo.Name)
	r.inner.runs[todo.ID], r.started = todo, append(r.started, todo)
	result := &run.Result{
		Operation: todo.Operation, Outcome: run.Succeeded, Project: run.Project{Name: "app", Runtime: "yaml"}, StartedAt: r.now(), EndedAt: r.now(),
	}
	if todo.Operation == run.CheckDrift {
		result.Drift = &run.Drift{}
	}
	if r.violates != nil {
		if result.Violations = r.violates(todo); len(result.Violations.Mandatory) > 0 {
			result.Outcome, result.Message = run.PolicyViolation, "a policy is violated"
		}
	}
	if todo.Outputs != nil {
		result.Plain = &run.PlainOutputs{Wanted: *todo.Outputs, Values: map[string]json.RawMessage{"a": json.RawMessage(`"b"`)}}
	}
	r.inner.results[todo.ID] = result
	r.waker.Wake(todo.Namespace, todo.Name)
	return nil
}

// done lists the runs of a namespace, as "update a".
func (r *promptRunner) done(namespace string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := []string{}
	for _, line := range r.lines {
		if rest, ok := strings.CutPrefix(line, namespace+" "); ok {
			lines = append(lines, rest)
		}
	}
	return lines
}

// quietEvents drops events.
type quietEvents struct{}

func (quietEvents) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {
}

// orderedTenant is a namespace of a cluster.
type orderedTenant struct {
	*failure.Assertions
	*orderedCluster
	ctx       context.Context
	namespace string
}

func (c *orderedCluster) tenant(t *testing.T) *orderedTenant {
	t.Helper()
	u := &orderedTenant{Assertions: failure.NewAssertions(t, c.api), orderedCluster: c, ctx: t.Context()}
	u.SetDefaultEventuallyTimeout(4 * time.Minute)
	u.SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "order-"}}
	u.Expect(c.Create(u.ctx, namespace)).To(Succeed())
	u.namespace = namespace.Name
	failure.Report(t, c.Client, u.namespace, c.log.Read)
	u.create(&v1.Program{ObjectMeta: metav1.ObjectMeta{Name: "app"}})
	return u
}

func (u *orderedTenant) create(object client.Object) {
	object.SetNamespace(u.namespace)
	u.Expect(u.Create(u.ctx, object)).To(Succeed())
}

func (u *orderedTenant) createStack(name string, changes ...func(*v1.Stack)) {
	day := &metav1.Duration{Duration: 24 * time.Hour}
	u.create(stackOf(name, append(changes, func(s *v1.Stack) { s.Spec.Interval, s.Spec.RetryInterval = day, day })...))
}

func (u *orderedTenant) stack(name string) *v1.Stack {
	stack := &v1.Stack{}
	u.Expect(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: name}, stack)).To(Succeed())
	return stack
}

func (u *orderedTenant) edit(name string, change func(*v1.Stack)) {
	u.Eventually(func() error {
		stack := u.stack(name)
		change(stack)
		return u.Update(u.ctx, stack)
	}).Should(Succeed())
}

func (u *orderedTenant) awaitReady(names ...string) {
	for _, name := range names {
		u.Eventually(func(g Gomega) {
			stack := u.stack(name)
			g.Expect(conditions.IsReady(stack)).To(BeTrue(), "%s: %v", name, stack.Status.Conditions)
			g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
		}).Should(Succeed())
	}
}

func (u *orderedTenant) awaitStalled(text string, names ...string) {
	for _, name := range names {
		u.Eventually(func(g Gomega) {
			stack := u.stack(name)
			g.Expect(conditions.IsStalled(stack)).To(BeTrue(), "%s: %v", name, stack.Status.Conditions)
			g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
			g.Expect(readyMessage(stack)).To(ContainSubstring(text))
		}).Should(Succeed())
	}
}

func (u *orderedTenant) awaitWaiting(name, text string) {
	u.Eventually(func(g Gomega) {
		g.Expect(conditions.GetReason(u.stack(name), meta.ReadyCondition)).To(Equal(meta.DependencyNotReadyReason))
		g.Expect(readyMessage(u.stack(name))).To(ContainSubstring(text))
	}).Should(Succeed())
}

func (u *orderedTenant) runs() []string { return u.runner.done(u.namespace) }

func TestOrderOnAnAPIServer(t *testing.T) {
	t.Parallel()
	cluster := sharedCluster(t)
	for name, test := range map[string]func(*testing.T, *orderedTenant){
		"layers that come in the wrong order are run, changed and destroyed in the right one": testLayers,
		"a circle is found whoever closes it, and mended by whoever opens it":                 testCircle,
		"a circle is opened by the end of one of its Stacks":                                  testCircleEnds,
		"a destroy continues when the dependent no longer depends":                            testFreed,
		"a prerequisite that is too old is run again first":                                   testStalePrerequisite,
		"an expression is looked at again when the dependency changes":                        testExpression,
		"an expression is looked at again when the labels or annotations of the Stack change": testExpressionOverSelf,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, cluster.tenant(t))
		})
	}
}

func testLayers(_ *testing.T, u *orderedTenant) {
	u.createStack("c", dependsOn("b"))
	u.awaitWaiting("c", "/b not found")
	u.createStack("b", dependsOn("a"))
	u.awaitWaiting("b", "/a not found")
	u.createStack("a")
	u.awaitReady("c", "b", "a")
	u.Expect(u.runs()).To(Equal([]string{"update a", "update b", "update c"}))

	program := &v1.Program{}
	u.Expect(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: "app"}, program)).To(Succeed())
	program.Program.Outputs = map[string]v1.Expression{"a": {Raw: []byte(`"b"`)}}
	u.Expect(u.Update(u.ctx, program)).To(Succeed())
	u.Eventually(u.runs).Should(HaveLen(6))
	u.awaitReady("c", "b", "a")
	u.Expect(u.runs()[3:]).To(Equal([]string{"update a", "update b", "update c"}))

	for _, name := range []string{"a", "b", "c"} {
		u.Expect(u.Delete(u.ctx, u.stack(name))).To(Succeed())
	}
	u.awaitGone("a")
	u.Expect(u.runs()[6:]).To(Equal([]string{"destroy c", "destroy b", "destroy a"}))
}

func (u *orderedTenant) awaitGone(name string) {
	u.Eventually(func() bool {
		return apierrors.IsNotFound(u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: name}, &v1.Stack{}))
	}).Should(BeTrue(), name)
}

func testCircle(_ *testing.T, u *orderedTenant) {
	circle := map[string]string{"a": "b", "b": "c", "c": "a"}
	for _, name := range []string{"a", "b", "c"} {
		u.createStack(name, dependsOn(circle[name]))
	}
	for mended, dependency := range circle {
		u.awaitStalled("depend on each other in a cycle", "a", "b", "c")
		u.edit(mended, dependsOn())
		u.awaitReady("a", "b", "c")
		u.edit(mended, dependsOn(dependency))
	}
	u.awaitStalled("depend on each other in a cycle", "a", "b", "c")
	u.Expect(u.runs()).To(HaveLen(3), "each was run once, and after that there was nothing new: %v", u.runs())
}

func testCircleEnds(_ *testing.T, u *orderedTenant) {
	u.createStack("a", dependsOn("b"))
	u.createStack("b", dependsOn("c"))
	u.createStack("c", dependsOn("a"))
	u.awaitStalled("cycle", "a", "b", "c")
	u.Expect(u.Delete(u.ctx, u.stack("c"))).To(Succeed())
	u.awaitWaiting("b", "/c not found")
	u.awaitWaiting("a", "/b is not ready")
}

func testFreed(_ *testing.T, u *orderedTenant) {
	u.createStack("a")
	u.createStack("b", dependsOn("a"))
	u.awaitReady("b")
	u.Expect(u.Delete(u.ctx, u.stack("a"))).To(Succeed())
	u.Eventually(func() string { return readyMessage(u.stack("a")) }).Should(ContainSubstring("/b, which depends on this Stack"))
	u.edit("b", dependsOn())
	u.awaitGone("a")
	u.Expect(u.runs()).To(Equal([]string{"update a", "update b", "destroy a"}))
	u.awaitReady("b")
}

func testStalePrerequisite(_ *testing.T, u *orderedTenant) {
	u.createStack("a")
	u.createStack("b", requires("a", 30*time.Minute))
	u.awaitReady("b")
	u.ahead.Add(int64(time.Hour))
	defer u.ahead.Add(-int64(time.Hour))
	u.edit("b", func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "1"} })
	u.Eventually(func() string { return u.stack("b").Status.LastHandledReconcileAt }).Should(Equal("1"))
	u.awaitReady("a", "b")
	u.Expect(u.runs()).To(Equal([]string{"update a", "update b", "update a", "update b"}))
}

func testExpression(_ *testing.T, u *orderedTenant) {
	u.createStack("a")
	u.createStack("b", func(s *v1.Stack) {
		s.Spec.DependsOn = []v1.DependencyReference{{Name: "a", ReadyExpr: `has(dep.metadata.labels) && dep.metadata.labels['ready'] == 'yes'`}}
	})
	u.awaitReady("a")
	u.awaitWaiting("b", "does not meet its readyExpr")
	u.edit("a", func(s *v1.Stack) { s.Labels = map[string]string{"ready": "yes"} })
	u.awaitReady("b")
	u.Expect(slices.Index(u.runs(), "update b")).To(Equal(1))
}

func testExpressionOverSelf(_ *testing.T, u *orderedTenant) {
	u.createStack("a", func(s *v1.Stack) { s.Labels = map[string]string{"version": "2"} })
	over := func(field string) func(*v1.Stack) {
		return func(s *v1.Stack) {
			s.Spec.DependsOn = []v1.DependencyReference{{Name: "a", ReadyExpr: `has(self.metadata.` + field + `) && ` +
				`self.metadata.` + field + `['version'] == dep.metadata.labels['version']`}}
		}
	}
	u.createStack("b", over("labels"))
	u.createStack("c", over("annotations"))
	u.awaitReady("a")
	for _, name := range []string{"b", "c"} {
		u.awaitWaiting(name, "does not meet its readyExpr")
	}
	u.edit("b", func(s *v1.Stack) { s.Labels = map[string]string{"version": "2"} })
	u.edit("c", func(s *v1.Stack) { s.Annotations = map[string]string{"version": "2"} })
	u.awaitReady("b", "c")
}
