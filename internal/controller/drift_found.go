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

// publishDrift writes what a check for drift has found, and returns where it is. The counts are
// in the status all the same if that fails.
func (r *StackReconciler) publishDrift(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) stackstatus.DriftDetails {
	if result.Drift == nil || result.Drift.Found.IsEmpty() {
		return stackstatus.DriftDetails{}
	}
	name, digest, err := r.publisher().Drift(ctx, stack, result.Drift.Found)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to write what has drifted", "run", record.ID)
		return stackstatus.DriftDetails{}
	}
	return stackstatus.DriftDetails{ConfigMap: name, ContentDigest: digest}
}

// dropDriftDetails deletes what was written of drift, once the status no longer refers to it.
func (r *StackReconciler) dropDriftDetails(ctx context.Context, before, stack *v1.Stack) {
	if !stackstatus.IsDriftGone(before, stack) {
		return
	}
	if err := r.publisher().DropDrift(ctx, stack); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to delete what was written of drift that is gone")
	}
}

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
