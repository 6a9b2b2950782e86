// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"github.com/fluxcd/pkg/runtime/conditions"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// announcePolicies counts a check of policies if it has come to a result, and announces what is
// different from before it, unless that was announced as the end of the run.
func (r *StackReconciler) announcePolicies(ctx context.Context, before, stack *v1.Stack, announced bool) {
	reason, checked := stackstatus.ArePoliciesChecked(before, stack)
	if !checked {
		return
	}
	r.Runs.PoliciesChecked(reason)
	e, changed := stackstatus.PoliciesEvent(before, stack)
	if changed && !announced {
		r.announce(ctx, stack, e)
		return
	}
	ctrl.LoggerFrom(ctx).Info(conditions.GetMessage(stack, v1.CompliantCondition))
}

// policiesOf returns what the record of a run says of its packs, nil if it has none. A run of all
// packs and all resources counts as a check.
func policiesOf(seen *observe.Observation, todo run.Run, which launch) (*v1.RunPolicies, error) {
	is, err := policy.Record(todo.Policies)
	if is != nil && is.Digest == seen.Packs.Digest && len(todo.Options.Targets) == 0 && which.drift == "" && !which.kind.OnRequest {
		is.Checks = seen.Policies.Digest
	}
	return is, err
}
