// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// A check for drift is a run like any other, one of a Stack at a time, with slots of its own.
// It is no reconcile: only status.drift and the condition Drifted report it.

// checkDrift starts a check for drift, or says why it cannot. It reads no values before it is
// the Stack's turn: many may be waiting.
func (r *StackReconciler) checkDrift(ctx context.Context, stack *v1.Stack) error {
	if !r.Runner.Background().Reserve(stack.Namespace, stack.Name) {
		return nil // the runner wakes the Stack
	}
	seen, err := r.observer().ForCheck(ctx, stack)
	if err != nil {
		r.Runner.Background().Release(stack.Namespace, stack.Name)
		return err
	}
	problem, check := seen.Problem, launch{kind: run.KindOf(run.CheckDrift), checkRequest: stackstatus.CheckRequest(stack)}
	if problem == nil {
		problem = r.checkStart(ctx, stack, seen, &check)
	}
	if problem != nil {
		r.Runner.Background().Release(stack.Namespace, stack.Name)
		why := fmt.Sprintf("%s: %s", problem.Reason, problem.Message)
		before := stack.DeepCopy()
		if err := r.patchStatus(ctx, stack, func() { stackstatus.FailCheck(stack, why, r.Now()) }); err != nil {
			return err
		}
		r.announceDrift(ctx, before, stack, nil)
		return nil
	}
	return r.start(ctx, stack, seen, check)
}

// dropDrift drops what spec.drift no longer asks for.
func (r *StackReconciler) dropDrift(ctx context.Context, stack *v1.Stack) error {
	before, left := stack.Status.Plan, stackstatus.DriftDetails{}
	if stackstatus.IsDriftUnwanted(stack) {
		left = r.dropDriftDetails(ctx, stack)
	}
	if err := r.patchStatus(ctx, stack, func() { stackstatus.DropDrift(stack, left) }); err != nil {
		return err
	}
	r.dropPlansSince(ctx, before, stack)
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
	options.Refresh, options.ExpectNoRefreshChanges = true, false
	if known := stack.Status.Drift; known != nil {
		options.Targets, options.TargetDependents = known.Targets, known.TargetDependents
	}
	return options
}
