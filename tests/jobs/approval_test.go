// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// awaitProposal waits for a plan other than the given one to wait for its approval.
func (t *team) awaitProposal(stack *v1.Stack, former string) *v1.PlanStatus {
	t.test.Helper()
	t.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetReason(s, meta.ReadyCondition)).To(Equal(v1.ApprovalRequiredReason), conditions.GetMessage(s, meta.ReadyCondition))
		g.Expect(s.Status.Plan).To(And(HaveField("State", v1.PlanProposed), HaveField("Digest", Not(Equal(former)))))
	})
	return stack.Status.Plan
}

// operations returns how many Jobs there were of each operation.
func (t *team) operations() map[string]int {
	t.test.Helper()
	all := map[string]int{}
	for _, job := range t.jobs() {
		all[job.Labels["pulumi.com/operation"]]++
	}
	return all
}

// The pods are killed while they propose and while they apply: nothing is done twice, and nothing without an approval.
func TestJobsThatAreKilledDoOnlyWhatIsApproved(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	program := u.program("app", thing("one", "hold: read"))
	stack := u.stack("app", func(s *v1.Stack) { s.Spec.Refresh = true })
	u.awaitReady(stack, "one")
	edit(u, stack, func(s *v1.Stack) { s.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways} })
	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("two", "hang: update")) })

	u.awaitJournal("read", "begin") // by the preview of the proposal, which refreshes
	u.killPod(stack)
	u.Expect(u.cloud.Release()).To(Succeed())
	second := u.awaitProposal(stack, "")
	u.Expect(second).To(And(HaveField("Operation", v1.OperationUpdate), HaveField("Updated", BeEquivalentTo(1))))
	u.Expect(stack.Status.Interrupted).To(BeEmpty(), "there is nothing to recover from")
	u.noLocks()
	u.Expect(u.operations()).To(And(HaveKeyWithValue("propose", BeNumerically(">=", 2)), Not(HaveKey("recover"))))
	u.Expect(u.count("update", "begin")).To(BeZero())

	u.annotate(stack, v1.ApproveAnnotation, second.Digest)
	u.awaitJournal("update", "begin")
	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("two")) }) // without what makes it hang
	u.killPod(stack)
	third := u.awaitProposal(stack, second.Digest)
	u.noLocks()
	u.Expect(u.operations()).To(HaveKeyWithValue("recover", 1), "which needs no approval")
	u.Expect(u.count("update", "begin")).To(Equal(1), "what is left to do does")

	u.annotate(stack, v1.ApproveAnnotation, third.Digest)
	u.awaitReady(stack, "two")
	u.Expect(stack.Status.Plan).To(HaveField("State", v1.PlanApplied))
	u.Expect(u.count("update", "begin")).To(Equal(2))
	u.Expect(u.count("update", "done")).To(Equal(1))
	u.Expect(u.count("create", "begin")).To(Equal(1))
}
