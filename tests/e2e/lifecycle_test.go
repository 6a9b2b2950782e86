// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func TestDeletingAStackTouchesNothingByDefault(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitReady(stack)
	calls := u.pulumiCalls()

	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
	u.Expect(u.resourcesInState("lab", "dev")).To(Equal([]string{"a"}))
	u.Expect(u.pulumiCalls()).To(Equal(calls))
}

func TestAStackIsDestroyedAfterItsSourceIsGone(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(project("lab", twoThings("one", "two")))
	stack := u.stack(fromGit, destroyed)
	u.apply(stack)
	u.awaitReady(stack)
	u.Expect(u.stateFile("lab", "dev")).To(BeARegularFile())
	before := len(u.pulumiCalls())

	u.delete(source.object)
	u.awaitGone(source.object)
	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.things()).To(BeEmpty())
	u.Expect(u.stateFile("lab", "dev")).NotTo(BeAnExistingFile())
	u.Expect(u.pulumiCalls()[before:]).To(HaveExactElements(ContainSubstring(" destroy "), ContainSubstring(" stack rm ")))
	u.awaitEvent(stack, "Normal", "ReconciliationSucceeded", "Destroy succeeded", "2 deleted")
}

func TestASuspendedStackStaysPutAndFollowsWhenItIsResumed(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(both(in("app", project("lab", oneThing("one"))), in("other", project("other", twoThings("x", "y")))))
	suspended := u.stack(from("GitRepository", "app"))
	other := u.stack(named("other"), from("GitRepository", "other"))
	u.apply(suspended)
	u.apply(other)
	u.awaitReady(suspended)
	u.awaitReady(other)
	edit(u, suspended, func(s *v1.Stack) { s.Spec.Suspend = true })
	before := suspended.DeepCopy()

	revision := source.commit(both(in("app", project("lab", oneThing("two"))), in("other", project("other", twoThings("x", "z")))))
	u.awaitReady(other, atRevision(revision))
	request(u, suspended)
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(suspended), suspended)).To(Succeed())
		g.Expect(suspended.Status.LastHandledReconcileAt).To(Equal(suspended.Annotations[meta.ReconcileRequestAnnotation]))
	}).Should(Succeed(), "a request to a suspended Stack is answered")
	u.Expect(suspended.Status.LastAppliedRevision).To(Equal(before.Status.LastAppliedRevision))
	u.Expect(conditions.IsReady(suspended)).To(BeTrue())
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one", "b": "x", "c": "z"}))

	edit(u, suspended, func(s *v1.Stack) { s.Spec.Suspend = false })
	u.awaitReady(suspended, atRevision(revision))
	u.Expect(u.things()).To(HaveKeyWithValue("a", "two"))
}

func TestASuspendedStackIsDeletedWithoutBeingDestroyed(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, destroyed)
	u.apply(stack)
	u.awaitReady(stack)
	edit(u, stack, func(s *v1.Stack) { s.Spec.Suspend = true })

	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
	u.awaitEvent(stack, "Warning", "Suspended", "stack dev was not destroyed")
}

func TestARequestedReconcileRunsAgain(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitReady(stack)
	before := len(u.pulumiCalls())

	token := request(u, stack)
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastHandledReconcileAt).To(Equal(token)) })
	u.Expect(u.pulumiCalls()[before:]).To(ConsistOf(ContainSubstring(" up ")))
	u.Expect(stack.Status.Resources.Same).To(BeEquivalentTo(1))
	u.Expect(u.journal(u)).To(Equal([]string{"create begin a", "create done a"}), "there was nothing to do")
}

func TestAStackThatNeverRanIsDeletedAtOnce(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	stack := u.stack(fromProgram, destroyed)
	u.apply(stack)
	u.awaitMissing(stack, "not found")

	u.delete(stack)
	u.awaitGone(stack)
	u.Expect(u.pulumiCalls()).To(BeEmpty())
}
