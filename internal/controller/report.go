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

// report writes a failure into the conditions, and tells of it once for each
// revision: that of a run was told when the run ended.
func (r *StackReconciler) report(ctx context.Context, stack *v1.Stack, seen *observed, decision decide.Decision, mark func(stack *v1.Stack, reason, message string)) error {
	before := conditions.Get(stack, meta.ReadyCondition)
	revision := seen.program.Revision
	isNew := revision != "" && revision != stack.Status.LastAttemptedRevision
	if err := r.patchStatus(ctx, stack, func() {
		if revision != "" {
			stack.Status.LastAttemptedRevision = revision
		}
		if !decision.Fetching { // or there is nothing to answer yet
			// Answered with a failure, but the run that is asked for is still to come.
			takeOn(stack)
		}
		mark(stack, decision.Reason, decision.Message)
	}); err != nil {
		return err
	}
	if isNew || (!isTold(before, decision) && !isOfLastRun(stack, decision)) {
		kind := corev1.EventTypeWarning
		if decision.Awaited {
			// As in Flux: a chat is not told of each Stack that was there before its source.
			kind = eventv1.EventTypeTrace
		}
		r.announce(ctx, stack, notice{kind: kind, reason: decision.Reason, message: decision.Message,
			revision: revision, originRevision: seen.program.OriginRevision})
	}
	return nil
}

// isTold tells whether the condition says what was decided.
func isTold(ready *metav1.Condition, decision decide.Decision) bool {
	return ready != nil && ready.Reason == decision.Reason && ready.Message == decision.Message
}

// isOfLastRun tells whether what was decided says again how the last run failed.
func isOfLastRun(stack *v1.Stack, decision decide.Decision) bool {
	if cancelled := stack.Status.CancelledRun; cancelled != nil && cancelled.EndedAt != nil && decision.Reason == v1.CancelRequestedReason {
		return true // a recovery may have come after it
	}
	last := stack.Status.LastUpdate
	return last != nil && last.State == v1.UpdateFailed && last.Reason == decision.Reason && last.Message == decision.Message
}
