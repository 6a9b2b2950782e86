// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// previewAfterRun writes the plan of an ended preview to a ConfigMap, and returns its status.
func (p Publisher) previewAfterRun(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) *v1.PreviewStatus {
	ended := stackstatus.PreviewAfter(stack, record, result)
	if !run.KindOfRecord(record).OnRequest || result.Outcome != run.Succeeded {
		return ended
	}
	var err error
	if ended.ConfigMap, ended.Digest, err = p.PreviewPlan(ctx, stack, result); err != nil {
		ended.Message = fmt.Sprintf("Cannot write the steps of the preview: %v", err)
	}
	return ended
}

// PreviewPlan writes the plan of a preview, and returns the name of the ConfigMap and the
// digest of its data.
func (p Publisher) PreviewPlan(ctx context.Context, stack *v1.Stack, result *run.Result) (name, digest string, err error) {
	made := plan.Plan{}
	if result.Plan != nil {
		made = *result.Plan
	}
	return p.putPlan(ctx, stack, "-preview", made)
}

// putPlan writes a plan to a single ConfigMap of the Stack, and returns its name and the digest of
// its data.
func (p Publisher) putPlan(ctx context.Context, stack *v1.Stack, suffix string, of plan.Plan) (name, digest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	data, err := inventory.EncodePlan(of)
	if err != nil {
		return "", "", err
	}
	return p.putConfigMap(ctx, stack, suffix, inventory.PlanKey, data)
}
