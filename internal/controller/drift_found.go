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
// in the status all the same if that fails. What an earlier check has written is named until it
// is replaced or deleted, or nothing would ever delete it.
func (r *StackReconciler) publishDrift(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) stackstatus.DriftDetails {
	switch {
	case result.Drift == nil:
		return stackstatus.DriftDetails{}
	case result.Drift.Found.IsEmpty():
		return r.dropDriftDetails(ctx, stack)
	}
	name, digest, err := r.publisher().Drift(ctx, stack, result.Drift.Found)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to write what has drifted", "run", record.ID)
		return stackstatus.OutdatedDriftDetails(stack)
	}
	return stackstatus.DriftDetails{ConfigMap: name, ContentDigest: digest}
}

// dropDriftDetails deletes what was written of drift that is gone, and returns what is left.
func (r *StackReconciler) dropDriftDetails(ctx context.Context, stack *v1.Stack) stackstatus.DriftDetails {
	left := stackstatus.OutdatedDriftDetails(stack)
	if left.ConfigMap == "" {
		return left
	}
	if err := r.publisher().DropDrift(ctx, stack); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to delete what was written of drift that is gone")
		return left
	}
	return stackstatus.DriftDetails{}
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
