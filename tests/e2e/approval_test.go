// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// awaitProposal waits for a plan other than the given one to wait for its approval.
func (t *tenant) awaitProposal(stack *v1.Stack, former string) *v1.PlanStatus {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.ApprovalRequiredReason), conditions.GetMessage(stack, meta.ReadyCondition))
		g.Expect(stack.Status.Plan).To(And(HaveField("State", v1.PlanProposed), HaveField("Digest", Not(Equal(former)))))
	}).Should(Succeed())
	return stack.Status.Plan
}

func TestOnlyWhatWasApprovedIsApplied(t *testing.T) {
	t.Parallel()
	u := newTenant(t, shared)
	program := u.program(oneThing("one"))
	u.apply(program)
	stack := u.stack(fromProgram, destroyed, func(s *v1.Stack) { s.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways} })
	u.apply(stack)
	first := u.awaitProposal(stack, "")
	u.Expect(first.Created).To(BeNumerically(">", 0))
	u.Expect(u.things()).To(BeEmpty())

	u.annotate(stack, v1.ApprovedByAnnotation, "jane")
	u.annotate(stack, v1.ApproveAnnotation, first.Digest)
	u.awaitReady(stack)
	u.Expect(stack.Status.Plan).To(And(HaveField("State", v1.PlanApplied), HaveField("ApprovedBy", "jane")))
	u.Expect(u.things()).To(HaveKeyWithValue("a", "one"))

	// Between the approval and the update, the program changes.
	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("two")) })
	second := u.awaitProposal(stack, first.Digest)
	edit(u, stack, func(s *v1.Stack) { s.Spec.Suspend = true })
	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("three")) })
	u.annotate(stack, v1.ApproveAnnotation, second.Digest)
	edit(u, stack, func(s *v1.Stack) { s.Spec.Suspend = false })
	third := u.awaitProposal(stack, second.Digest)
	u.Expect(third.Message).To(ContainSubstring("approves another plan, " + second.Digest))
	u.Expect(third.Difference).To(ContainSubstring("value"))
	u.Expect(u.things()).To(HaveKeyWithValue("a", "one"))

	edit(u, stack, func(s *v1.Stack) { s.Spec.Approval.Approved = third.Digest })
	u.awaitReady(stack)
	u.Expect(u.things()).To(HaveKeyWithValue("a", "three"))

	u.delete(stack)
	destroy := u.awaitProposal(stack, third.Digest)
	u.Expect(destroy.Operation).To(Equal(v1.OperationDestroy))
	u.Expect(u.things()).To(HaveLen(1))
	u.annotate(stack, v1.ApproveAnnotation, destroy.Digest)
	u.awaitGone(stack)
	u.Expect(u.things()).To(BeEmpty())
}
