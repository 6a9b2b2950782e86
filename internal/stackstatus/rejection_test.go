// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// TestARejectionKeepsItsAuthor: an approval ahead, of another plan, leaves it in place, and names its own.
func TestARejectionKeepsItsAuthor(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Status.Plan = &v1.PlanStatus{Digest: "sha256:1", State: v1.PlanProposed}
	stack.Annotations = map[string]string{v1.RejectAnnotation: "sha256:1", v1.RejectReasonAnnotation: "Friday", v1.ApprovedByAnnotation: "alice"}
	MarkRejected(stack, v1.PlanRejectedReason, rejectedText(stack, stack.Status.Plan))
	stack.Annotations[v1.ApproveAnnotation], stack.Annotations[v1.ApprovedByAnnotation] = "sha256:2", "bob"
	g.Expect(rejectedText(stack, stack.Status.Plan)).To(HaveSuffix("was rejected by alice: Friday"))
	rejectPlan(stack, stack.Status.Plan)
	g.Expect(stack.Status.Plan.ApprovedBy).To(Equal("alice"))

	stack.Annotations[v1.RejectReasonAnnotation] = "Monday"
	g.Expect(rejectedText(stack, stack.Status.Plan)).To(HaveSuffix("was rejected by bob: Monday"))
}
