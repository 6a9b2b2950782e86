// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Once the Stack does not only preview any more, its own plan has to be proposed and approved.
func TestAPreviewedPlanIsNoneThatCanBeApproved(t *testing.T) {
	g := NewWithT(t)
	digest := "sha256:" + strings.Repeat("a", 64)
	stack := &v1.Stack{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1.ApproveAnnotation: digest}},
		Spec:       v1.StackSpec{Approval: &v1.Approval{Require: v1.ApprovalAlways, Approved: digest}},
		Status:     v1.StackStatus{Plan: &v1.PlanStatus{Digest: digest, Operation: v1.OperationUpdate, State: v1.PlanPreviewed}},
	}
	seen := Observation(stack, time.Now())
	g.Expect(seen.Approval.Required).To(BeTrue())
	g.Expect(seen.Approval.Plan).To(BeNil())
	g.Expect(waitingPlan(stack)).To(BeNil())
	MarkAwaitingApproval(stack, v1.ApprovalRequiredReason, "")
	MarkRejected(stack, v1.PlanRejectedReason, "")
	g.Expect(stack.Status.Plan.State).To(Equal(v1.PlanPreviewed))

	RecordRun(stack, v1.RunStatus{ID: "run", Operation: run.Propose})
	g.Expect(stack.Status.Plan).NotTo(BeNil(), "the proposal replaces it when it ends")
	RecordRun(stack, v1.RunStatus{ID: "run", Operation: run.Update})
	g.Expect(stack.Status.Plan).To(BeNil())
}
