// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// maxReason bounds the reason of a rejection, in bytes.
const maxReason = 1024

// rejectedText says who has rejected the plan, and why.
func rejectedText(stack *v1.Stack, p *v1.PlanStatus) string {
	text := fmt.Sprintf("%s was rejected by %s", proposalText(p), rejectedBy(stack, p))
	if reason := rejectReason(stack); reason != "" {
		text += ": " + reason
	}
	return text
}

func rejectReason(stack *v1.Stack) string {
	return bounded.Text(stack.Annotations[v1.RejectReasonAnnotation], maxReason)
}

// rejectedBy returns who has rejected the plan. One annotation names whoever has decided last, which may
// since have been on another plan: an approval ahead leaves the rejection in place.
func rejectedBy(stack *v1.Stack, p *v1.PlanStatus) string {
	if p.State == v1.PlanRejected && p.ApprovedBy != "" && p.Message == rejectReason(stack) {
		return p.ApprovedBy
	}
	return annotatedBy(stack, v1.RejectAnnotation)
}

// MarkRejected marks a Stack whose plan was rejected.
func MarkRejected(stack *v1.Stack, reason, message string) {
	MarkStalled(stack, reason, message)
	if p := openPlan(stack); p != nil {
		rejectPlan(stack, p)
	}
}

// rejectPlan records that the plan was rejected.
func rejectPlan(stack *v1.Stack, p *v1.PlanStatus) {
	p.State, p.ApprovedAt, p.ApprovedBy, p.Message = v1.PlanRejected, nil, rejectedBy(stack, p), rejectReason(stack)
}
