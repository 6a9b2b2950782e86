// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// awaitApproval marks a Stack whose plan waits for an approval. The end of the run that has made
// the plan was announced.
func (r *StackReconciler) awaitApproval(ctx context.Context, stack *v1.Stack, seen *observe.Observation, decision decide.Decision) error {
	return r.patchStatus(ctx, stack, func() {
		stackstatus.MarkDecision(stack, decision, seen.Program.Revision, stackstatus.MarkAwaitingApproval)
	})
}

// publishProposal writes the plan of an ended run, for those who approve it, and returns where
// it is and what is different from the one before. The digest is in the status all the same if
// that fails.
func (r *StackReconciler) publishProposal(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) stackstatus.PlanDetails {
	if !stackstatus.KeepsPlan(stack, record, result) || result.Plan == nil {
		return stackstatus.PlanDetails{}
	}
	var details stackstatus.PlanDetails
	var err error
	if details.ConfigMap, details.ContentDigest, err = r.publisher().Plan(ctx, stack, *result.Plan); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to write the plan", "run", record.ID)
		return stackstatus.PlanDetails{}
	}
	if former := stack.Status.Plan; former != nil && former.State != v1.PlanApplied && former.Digest != result.Plan.Digest() {
		before, err := r.publisher().ReadPlan(ctx, stack)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "failed to read the former plan")
			return details
		}
		details.Difference = plan.Difference(before, *result.Plan)
	}
	return details
}

// dropPlans deletes the plans that the status no longer refers to.
func (r *StackReconciler) dropPlans(ctx context.Context, stack *v1.Stack) {
	if err := r.publisher().DropPlans(ctx, stack); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to delete former plans") // the next proposal does
	}
}

// dropPlansSince deletes all plans if the status referred to one before, and refers to none now.
func (r *StackReconciler) dropPlansSince(ctx context.Context, before *v1.PlanStatus, stack *v1.Stack) {
	if before != nil && stack.Status.Plan == nil {
		r.dropPlans(ctx, stack)
	}
}
