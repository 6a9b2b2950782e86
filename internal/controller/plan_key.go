// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/plankey"
)

func (r *StackReconciler) planKeys() plankey.Keys {
	return plankey.Keys{Client: r.Client, Reader: r.APIReader, Owner: FieldOwner, Namespace: r.Namespace}
}

// checkPlanKey gets the key of the run, or returns why it cannot until a person acts.
func (r *StackReconciler) checkPlanKey(ctx context.Context, stack *v1.Stack, seen *observe.Observation, which *launch) *decide.Problem {
	if what := plankey.WhatToDo(r.preparePlan(ctx, stack, seen, which)); what != "" {
		return &decide.Problem{Reason: v1.InputsFailedReason, Message: what}
	}
	return nil // start tries again, and returns any other error, which passes by itself
}

// preparePlan gets what the run needs for a plan and does not have yet: what a preview is compared with,
// and the key.
func (r *StackReconciler) preparePlan(ctx context.Context, stack *v1.Stack, seen *observe.Observation, which *launch) (err error) {
	namespace := stack.Namespace
	if which.makesPlan(stack) {
		if which.comparison == nil {
			comparison, err := r.observer().Compare(ctx, stack, seen)
			if err != nil {
				return err
			}
			which.comparison = &comparison
		}
		namespace = which.comparison.Namespace
	}
	if which.needsPlanKey() && which.planKey == "" {
		which.planKey, err = r.planKeys().Of(ctx, namespace, stack.Spec.Stack)
	}
	return err
}
