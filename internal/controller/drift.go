// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// dropDrift drops what spec.drift no longer asks for.
func (r *StackReconciler) dropDrift(ctx context.Context, stack *v1.Stack) error {
	before, left := stack.Status.Plan, stackstatus.DriftDetails{}
	if stackstatus.IsDriftUnwanted(stack) {
		left = r.publisher().DropDrift(ctx, stack)
	}
	if err := r.patchStatus(ctx, stack, func() { stackstatus.DropDrift(stack, left) }); err != nil {
		return err
	}
	r.publisher().DropPlansSince(ctx, before, stack)
	return nil
}

// slotsFor returns the slots of a kind of run.
func (r *StackReconciler) slotsFor(kind run.Kind) run.Slots {
	if kind.InBackground {
		return r.Runner.Background()
	}
	return r.Runner
}

// correctionOptions limits a run to the resources that have drifted: only a refresh sees what is
// to be undone.
func correctionOptions(stack *v1.Stack, options run.Options) run.Options {
	options.Refresh, options.ExpectNoRefreshChanges, options.PreviewFirst = true, false, true
	if known := stack.Status.Drift; known != nil {
		options.Targets, options.TargetDependents = known.Targets, known.TargetDependents
	}
	return options
}
