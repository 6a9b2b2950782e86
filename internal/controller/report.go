// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// report writes a failure to the conditions, and announces it once for each revision. The
// failure of a run was announced when the run ended.
func (r *StackReconciler) report(ctx context.Context, stack *v1.Stack, seen *observe.Observation, decision decide.Decision, mark func(stack *v1.Stack, reason, message string)) error {
	before := conditions.Get(stack, meta.ReadyCondition)
	revision := seen.Program.Revision
	isNew := revision != "" && revision != stack.Status.LastAttemptedRevision
	isNew = isNew || (!stackstatus.IsReported(before, decision) && !stackstatus.IsOfLastRun(stack, decision))
	if err := r.patchStatus(ctx, stack, func() {
		stackstatus.MarkDecision(stack, decision, revision, mark)
		if isNew && !decision.Awaited {
			stackstatus.ReplaceComment(stack, decision.Reason)
		}
	}); err != nil {
		return err
	}
	if isNew {
		kind := corev1.EventTypeWarning
		if decision.Awaited {
			// As in Flux: no alert for each Stack that was created before its source.
			kind = eventv1.EventTypeTrace
		}
		r.announce(ctx, stack, stackstatus.Event{Type: kind, Reason: decision.Reason, Message: decision.Message,
			Revision: revision, OriginRevision: seen.Program.OriginRevision})
	}
	return nil
}
