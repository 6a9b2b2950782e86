// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// proposalEvent announces a plan, once: one that is made again with the same result is a
// trace, which goes to no Alert, and so is one that nobody has to approve.
func proposalEvent(stack *v1.Stack, record v1.RunStatus, result *run.Result) Event {
	p := stack.Status.Plan
	e := Event{
		Type: eventv1.EventTypeTrace, Reason: v1.ApprovalRequiredReason, Message: proposalText(p) + " is proposed as plan " + p.Digest,
		Revision: record.Revision, OriginRevision: record.OriginRevision, Permalink: result.Permalink,
		Changes: changesOf(p.ResourceChanges), Plan: p.Digest,
	}
	by, approved := approval(stack, p)
	switch {
	case by.nobody:
		e.Message += ", and needs no approval: " + by.name
	case approved:
		e.Message += ", which is approved already by " + by.name
	case p.Run == record.ID:
		e.Type, e.Message = corev1.EventTypeNormal, awaitingText(stack, p)
		e.Diff = plan.Markdown(*result.Plan, maxDiff(stack))
		if p.Difference != "" {
			e.Message += ". The plan has changed: " + p.Difference
		}
	}
	return e
}

// maxDiff bounds the diff in the event of a plan, in bytes. A field of a chat takes about a
// thousand, and a service that gets more may refuse the whole notification. The comment of a
// pull request takes more.
func maxDiff(stack *v1.Stack) int {
	if HasChangeRequest(stack) {
		return plan.MaxComment - maxQuoted
	}
	return 1000
}

// approvedText says who has approved what was done.
func approvedText(p *v1.PlanStatus) string {
	if p.ApprovedBy == "" {
		return ""
	}
	return "; plan " + p.Digest + " was approved by " + p.ApprovedBy
}
