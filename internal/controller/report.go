// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
)

// report writes a failure to the conditions, and announces it once for each revision. The
// failure of a run was announced when the run ended.
func (r *StackReconciler) report(ctx context.Context, stack *v1.Stack, seen *observed, decision decide.Decision, mark func(stack *v1.Stack, reason, message string)) error {
	before := conditions.Get(stack, meta.ReadyCondition)
	revision := seen.program.Revision
	isNew := revision != "" && revision != stack.Status.LastAttemptedRevision
	if err := r.patchStatus(ctx, stack, func() { markDecision(stack, decision, revision, mark) }); err != nil {
		return err
	}
	if isNew || (!isTold(before, decision) && !isOfLastRun(stack, decision)) {
		kind := corev1.EventTypeWarning
		if decision.Awaited {
			// As in Flux: no alert for each Stack that was created before its source.
			kind = eventv1.EventTypeTrace
		}
		r.announce(ctx, stack, notice{kind: kind, reason: decision.Reason, message: decision.Message,
			revision: revision, originRevision: seen.program.OriginRevision})
	}
	return nil
}

// markDecision marks a Stack that cannot be run, at the revision if there is one.
func markDecision(stack *v1.Stack, decision decide.Decision, revision string, mark func(stack *v1.Stack, reason, message string)) {
	before := conditions.Get(stack, meta.ReadyCondition)
	if revision != "" {
		stack.Status.LastAttemptedRevision = revision
	}
	if !decision.Fetching { // otherwise there is nothing to answer yet
		// The failure answers the request, but the run that it asks for is still to come.
		takeOn(stack)
	}
	mark(stack, decision.Reason, decision.Message)
	keepSince(stack, before)
}

// keepSince keeps the time at which Ready got its status and reason, which notReadySince
// reads. Flux's conditions renew it with each message, and an error of the network may have
// another port in each.
func keepSince(stack *v1.Stack, before *metav1.Condition) {
	for i := range stack.Status.Conditions {
		ready := &stack.Status.Conditions[i]
		if before != nil && ready.Type == meta.ReadyCondition && ready.Status == before.Status && ready.Reason == before.Reason {
			ready.LastTransitionTime = before.LastTransitionTime
		}
	}
}

// isTold reports whether the condition already says what was decided.
func isTold(ready *metav1.Condition, decision decide.Decision) bool {
	return ready != nil && ready.Reason == decision.Reason && ready.Message == decision.Message
}

// isOfLastRun reports whether the decision only repeats how the last run failed.
func isOfLastRun(stack *v1.Stack, decision decide.Decision) bool {
	if cancelled := stack.Status.CancelledRun; cancelled != nil && cancelled.EndedAt != nil && decision.Reason == v1.CancelRequestedReason {
		return true // a recovery may have come after it
	}
	last := stack.Status.LastUpdate
	return last != nil && last.State == v1.UpdateFailed && last.Reason == decision.Reason && last.Message == decision.Message
}
