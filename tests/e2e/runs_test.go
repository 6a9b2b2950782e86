// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// awaitRun waits until the Stack has a run of the revision in flight.
func (t *tenant) awaitRun(stack *v1.Stack, revision string) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Run).NotTo(BeNil())
		if revision != "" {
			g.Expect(stack.Status.Run.Revision).To(Equal(revision))
		}
	}).Should(Succeed())
}

func TestACommitDuringAnUpdateDoesNotInterruptItAndIsNext(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	source := u.git(project("lab", oneThing("one")))
	stack := u.stack(fromGit)
	u.apply(stack)
	u.awaitReady(stack)

	slow := source.commit(project("lab", oneThing("two", "hold: update")))
	u.awaitJournal("update", "begin", "a")
	u.awaitRun(stack, slow)
	u.Expect(stack.Status.Run.Operation).To(Equal(v1.OperationUpdate))
	u.Expect(stack.Status.Run.Generation).To(Equal(stack.Generation))
	u.Expect(conditions.Get(stack, meta.ReadyCondition).Status).To(Equal(metav1.ConditionUnknown))
	u.Expect(conditions.GetReason(stack, meta.ReconcilingCondition)).To(Equal(meta.ProgressingReason))
	u.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring("Running update at revision " + slow))
	u.checkInProgress(stack)

	next := source.commit(project("lab", oneThing("three")))
	u.Expect(u.awaitArtifact(source.object, slow)).To(Equal(next))
	u.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
	u.Expect(stack.Status.Run).NotTo(BeNil(), "the update is held")
	u.Expect(stack.Status.Run.Revision).To(Equal(slow))
	u.Expect(u.cloud.Release()).To(Succeed())

	u.awaitReady(stack, atRevision(next))
	u.showsThe("three", stack)
	u.Expect(u.journal(u)[2:]).To(Equal([]string{"update begin a", "update done a", "update begin a", "update done a"}))
	u.Expect(u.pulumiCalls()).To(HaveLen(4), "stack init, and an up for each of three revisions")
	u.Expect(stack.Status.History).To(HaveLen(3))
}

func TestASpecEditedDuringARunIsAppliedNext(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program("configuration: {who: {type: String}}\n" + oneThing("${who}", "hold: create")))
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.Config["who"] = jsonText("one") })
	u.apply(stack)
	u.awaitJournal("create", "begin", "a")
	edit(u, stack, func(s *v1.Stack) { s.Spec.Config["who"] = jsonText("two") })
	u.Expect(stack.Status.Run).NotTo(BeNil())
	u.Expect(stack.Status.Run.Generation).To(BeNumerically("<", stack.Generation))
	u.Expect(u.cloud.Release()).To(Succeed())

	u.awaitReady(stack)
	u.Expect(u.things()).To(Equal(map[string]string{"a": "two"}))
	u.Expect(u.journal(u)).To(Equal([]string{"create begin a", "create done a", "update begin a", "update done a"}))
}

func TestAStackSuspendedDuringARunReportsHowItEnded(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one", "hold: create")))
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitJournal("create", "begin", "a")
	edit(u, stack, func(s *v1.Stack) { s.Spec.Suspend = true })
	u.Expect(stack.Status.Run).NotTo(BeNil())
	u.Expect(u.cloud.Release()).To(Succeed())

	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.IsReady(stack)).To(BeTrue())
	}).Should(Succeed())
	u.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Applied revision: " + stack.Status.LastAppliedRevision))
	u.Expect(stack.Status.ObservedGeneration).To(BeNumerically("<", stack.Generation), "as that of a Stack that is suspended later")
	u.kept("app", "one")

	edit(u, stack, func(s *v1.Stack) { s.Spec.Suspend = false })
	u.awaitReady(stack)
	u.Expect(u.journal(u)).To(Equal([]string{"create begin a", "create done a"}), "nothing is run again")
}

func TestARequestDuringARunIsAnsweredByTheNext(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one", "hold: create")))
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitJournal("create", "begin", "a")
	token := request(u, stack)
	u.Expect(stack.Status.Run).NotTo(BeNil())
	u.Expect(stack.Status.LastHandledReconcileAt).NotTo(Equal(token))
	u.Expect(u.cloud.Release()).To(Succeed())

	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastHandledReconcileAt).To(Equal(token)) })
	u.Expect(u.verbs()).To(Equal([]string{"stack init", "up", "up"}))
}

func TestAStackThatIsLockedByAnotherIsWaitedFor(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one", "hold: create")))
	first := u.stack(fromProgram)
	u.apply(first)
	u.awaitJournal("create", "begin", "a")
	second := u.stack(named("second"), fromProgram, retriedEvery(2*time.Second), func(s *v1.Stack) { s.Spec.Stack = "dev" })
	u.apply(second)
	u.awaitFailure(second, v1.StackLockedReason, "the stack is currently locked by 1 lock(s): created by")
	u.Expect(u.cloud.Release()).To(Succeed())

	u.awaitReady(first)
	u.awaitReady(second)
	u.Expect(u.cloud.Created("a")).To(Equal(1))
}

func TestARunThatExceedsItsTimeoutIsStopped(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(twoThings("x", "y", "hold: create")))
	timeout, failed := seconds(10), ""
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.Timeout = timeout })
	u.apply(stack)
	u.Eventually(func(g Gomega) {
		stopping, err := u.cloud.ToldToStop()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
		if last := stack.Status.LastUpdate; !stopping && last != nil && last.Name != failed {
			// This machine takes longer to reach the creation. The edit starts the next run.
			failed, timeout.Duration = last.Name, 2*timeout.Duration
			edit(u, stack, func(s *v1.Stack) { s.Spec.Timeout = timeout })
		}
		g.Expect(stopping).To(BeTrue())
	}).Should(Succeed())
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitFailure(stack, v1.UpdateFailedReason, "the timeout has passed")
	u.Expect(u.things()).To(Equal(map[string]string{"b": "x", "c": "y"}), "what was in flight is finished")
	u.Expect(u.resourcesInState("app", "dev")).To(ConsistOf("b", "c"))

	edit(u, stack, func(s *v1.Stack) { s.Spec.Timeout = seconds(180) })
	u.awaitReady(stack)
	u.Expect(u.cloud.Created("c")).To(Equal(1))
}
