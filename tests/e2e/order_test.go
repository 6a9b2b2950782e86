// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// None of these Stacks looks at another by the clock: their interval is an hour, and so is their retry interval.

// layers are three programs in a repository, each with one thing of its name.
func layers(value string) sources.Files {
	files := sources.Files{}
	for _, name := range []string{"a", "b", "c"} {
		body := fmt.Sprintf("resources:\n  %s:\n    type: lab:index:Thing\n    properties: {name: %s, value: %q}\n", name, name, value)
		files = both(files, in(name, project(name, body)))
	}
	return files
}

// layer is the Stack of one of them.
func (t *tenant) layer(name string, changes ...func(*v1.Stack)) *v1.Stack {
	return t.stack(append([]func(*v1.Stack){named(name), from(sourcev1.GitRepositoryKind, name), destroyed}, changes...)...)
}

func dependsOn(names ...string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Spec.DependsOn = nil
		for _, name := range names {
			s.Spec.DependsOn = append(s.Spec.DependsOn, v1.DependencyReference{Name: name})
		}
	}
}

// awaitWaiting waits until the Stack waits for others, tells of it, and is as kstatus wants it.
func (t *tenant) awaitWaiting(stack *v1.Stack, texts ...string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(meta.DependencyNotReadyReason))
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(hasAll(texts))
	}).Should(Succeed())
	t.Expect(conditions.GetReason(stack, meta.ReconcilingCondition)).To(Equal(meta.ProgressingWithRetryReason))
	t.checkInProgress(stack)
	t.awaitEvent(stack, "Normal", meta.DependencyNotReadyReason, texts...)
}

// inOrder is the journal of an operation on one thing after the other.
func inOrder(op string, names ...string) []string {
	var lines []string
	for _, name := range names {
		lines = append(lines, op+" begin "+name, op+" done "+name)
	}
	return lines
}

func TestLayersAreRunAndDestroyedInTheirOrder(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(layers("one"))
	u.awaitArtifact(source.object, "")
	a, b, c := u.layer("a"), u.layer("b", dependsOn("a")), u.layer("c", dependsOn("b"))
	u.apply(c)
	u.awaitWaiting(c, "Stack "+u.namespace+"/b not found")
	u.apply(b)
	u.awaitWaiting(b, "Stack "+u.namespace+"/a not found")
	u.Expect(u.pulumiCalls()).To(BeEmpty())
	starts := u.watchStarts()
	u.apply(a)
	for _, stack := range []*v1.Stack{a, b, c} {
		u.awaitReady(stack)
	}
	u.Expect(u.journal(u)).To(Equal(inOrder("create", "a", "b", "c")))
	t.Logf("from the Ready of a to the start of b %s, from that of b to the start of c %s", starts("a", "b"), starts("b", "c"))

	revision := source.commit(layers("two"))
	for _, stack := range []*v1.Stack{a, b, c} {
		u.awaitReady(stack, atRevision(revision))
	}
	u.Expect(u.journal(u)[6:]).To(Equal(inOrder("update", "a", "b", "c")), "a new revision goes through in order")

	for _, stack := range []*v1.Stack{a, b, c} {
		u.delete(stack)
	}
	for _, stack := range []*v1.Stack{c, b, a} {
		u.awaitGone(stack)
	}
	u.Expect(u.journal(u)[12:]).To(Equal(inOrder("delete", "c", "b", "a")))
	u.Expect(u.things()).To(BeEmpty())
	u.Expect(u.stateFile("a", "a")).NotTo(BeAnExistingFile())
	u.awaitEvent(a, "Normal", meta.ProgressingReason, "Waiting for Stack "+u.namespace+"/b, which depends on this Stack, to be deleted")
}

// watchStarts watches when Stacks are first Ready and when they first have a run. What it returns tells how long after the
// Ready of one the run of another was recorded, once both are.
func (t *tenant) watchStarts() func(dependency, dependent string) time.Duration {
	t.test.Helper()
	watch, err := t.Watch(t.ctx, &v1.StackList{}, client.InNamespace(t.namespace))
	t.Expect(err).NotTo(HaveOccurred())
	seen := make(chan map[string]time.Time)
	stop := make(chan struct{})
	go func() {
		defer watch.Stop()
		times := map[string]time.Time{}
		note := func(what string) {
			if _, ok := times[what]; !ok {
				times[what] = time.Now()
			}
		}
		for {
			select {
			case event, ok := <-watch.ResultChan():
				stack, isStack := event.Object.(*v1.Stack)
				if !ok || !isStack {
					return
				}
				if conditions.IsReady(stack) {
					note("ready " + stack.Name)
				}
				if stack.Status.Run != nil {
					note("run " + stack.Name)
				}
			case seen <- maps.Clone(times):
			case <-stop:
				return
			}
		}
	}()
	t.test.Cleanup(func() { close(stop) })
	return func(dependency, dependent string) time.Duration {
		select {
		case times := <-seen:
			return times["run "+dependent].Sub(times["ready "+dependency]).Round(time.Millisecond)
		case <-time.After(patience):
			t.test.Error("the watch has ended")
			return 0
		}
	}
}

func TestACycleIsReportedToAllInItAndBrokenByAnyOfThem(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.git(layers("one"))
	a, b, c := u.layer("a", dependsOn("c")), u.layer("b", dependsOn("a")), u.layer("c", dependsOn("b"))
	for _, stack := range []*v1.Stack{a, b, c} {
		u.apply(stack)
	}
	ns := u.namespace
	u.awaitStalled(a, v1.InvalidSpecReason, fmt.Sprintf("cycle: %s/a -> %s/c -> %s/b -> %s/a", ns, ns, ns, ns))
	u.awaitStalled(b, v1.InvalidSpecReason, fmt.Sprintf("cycle: %s/b -> %s/a -> %s/c -> %s/b", ns, ns, ns, ns))
	u.awaitStalled(c, v1.InvalidSpecReason, fmt.Sprintf("cycle: %s/c -> %s/b -> %s/a -> %s/c", ns, ns, ns, ns))
	u.Expect(u.pulumiCalls()).To(BeEmpty())

	edit(u, b, dependsOn())
	for _, stack := range []*v1.Stack{a, b, c} {
		u.awaitReady(stack)
	}
	u.Expect(u.journal(u)).To(Equal(inOrder("create", "b", "c", "a")))
}

func TestFaultsInWhatAStackDependsOn(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.layer("a")
	on := func(d v1.DependencyReference) func(*v1.Stack) {
		return func(s *v1.Stack) { s.Spec.DependsOn = []v1.DependencyReference{d} }
	}
	for _, test := range []struct {
		name   string
		change func(*v1.Stack)
		reason string
		text   string
	}{
		{"itself", dependsOn("a"), v1.InvalidSpecReason, "cannot depend on itself"},
		{"another namespace", on(v1.DependencyReference{Name: "a", Namespace: "other"}), "AccessDenied", "Stack other/a is in another namespace"},
		{"no CEL", on(v1.DependencyReference{Name: "x", ReadyExpr: "dep ="}), v1.InvalidSpecReason, "spec.dependsOn[0].readyExpr: ERROR: <input>:1:"},
		{"no boolean", on(v1.DependencyReference{Name: "x", ReadyExpr: "dep.metadata.name"}), v1.InvalidSpecReason, "expected bool"},
	} {
		t.Log(test.name)
		if stack.UID == "" {
			test.change(stack)
			u.apply(stack)
		} else {
			edit(u, stack, test.change)
		}
		u.awaitStalled(stack, test.reason, test.text)
		u.quiet(stack)
	}
	u.git(layers("one"))
	edit(u, stack, dependsOn())
	u.awaitReady(stack)
}

func TestAPrerequisiteThatIsTooOldIsRunAgainFirst(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(layers("one"))
	a := u.layer("a")
	u.apply(a)
	u.awaitReady(a)
	// As if it had run an hour ago.
	before, then := a.DeepCopy(), metav1.Time{Time: time.Now().Add(-time.Hour)}
	a.Status.LastRun.EndedAt, a.Status.History[0].LastReconciled = &then, then
	u.Expect(u.Status().Patch(u.ctx, a, client.MergeFrom(before))).To(Succeed())
	first := a.Status.LastUpdate.Name

	b := u.layer("b", func(s *v1.Stack) {
		s.Spec.Prerequisites = []v1.PrerequisiteReference{{Name: "a", Requirement: &v1.PrerequisiteRequirement{
			SucceededWithinDuration: &metav1.Duration{Duration: 30 * time.Minute},
		}}}
	})
	u.apply(b)
	u.awaitReady(b)
	u.awaitReady(a)
	u.Expect(a.Status.LastUpdate.Name).NotTo(Equal(first))
	u.Expect(u.journal(u)).To(Equal(inOrder("create", "a", "b")), "there was nothing to do for a")
	u.Expect(a.Status.History[0].TotalReconciliations).To(BeEquivalentTo(2), "it was run again once")
	u.awaitEvent(b, "Normal", meta.DependencyNotReadyReason, "was asked to run again")

	revision := source.commit(layers("two"))
	u.awaitReady(a, atRevision(revision))
	u.awaitReady(b, atRevision(revision))
	u.Expect(u.journal(u)[4:]).To(Equal(inOrder("update", "a", "b")), "a new revision goes through in order, too")
}
