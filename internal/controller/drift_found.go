// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"github.com/fluxcd/pkg/runtime/conditions"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// announceDrift counts a check for drift if it has come to a result, and announces what is
// different from before it.
func (r *StackReconciler) announceDrift(ctx context.Context, before, stack *v1.Stack, found *run.Drift) {
	if !stackstatus.IsChecked(before, stack, found) {
		return
	}
	r.Runs.Checked(stack.Status.Drift.Result)
	e, isNew := stackstatus.DriftEvent(before, stack, found)
	if !isNew {
		ctrl.LoggerFrom(ctx).Info(conditions.GetMessage(stack, v1.DriftedCondition))
		return
	}
	r.announce(ctx, stack, e)
	if ready, isNew := stackstatus.DriftGoneEvent(stack, e); isNew {
		r.emit(stack, ready)
	}
}
