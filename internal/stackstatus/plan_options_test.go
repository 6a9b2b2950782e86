// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A resource that is no longer protected can be deleted by the next update.
func TestAPlanThatOnlyChangesOptionsNeedsAnApproval(t *testing.T) {
	for require, waits := range map[v1.ApprovalRequirement]bool{v1.ApprovalAlways: true, v1.ApprovalDestructive: false} {
		t.Run(string(require), func(t *testing.T) {
			g, stack := NewWithT(t), &v1.Stack{}
			stack.Spec.Approval = &v1.Approval{Require: require}
			record := &v1.RunStatus{ID: "1", Operation: v1.OperationPropose, Revision: "main@sha1:1"}
			recordPlan(stack, record, &run.Result{Changes: run.Changes{Same: 3}, Plan: &plan.Plan{Steps: []plan.Step{{Op: plan.OpSame, URN: "urn:a"}}}})
			g.Expect(stack.Status.Plan.NoChanges).To(BeFalse())
			g.Expect(waitingPlan(stack) != nil).To(Equal(waits))
			g.Expect(proposalText(stack.Status.Plan)).To(Equal("The update to revision main@sha1:1 (1 with changed options)"))
		})
	}
}
