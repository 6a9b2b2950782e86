// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// PreviewPlan writes the plan of a preview, and returns the name of the ConfigMap and the
// digest of its data.
func (p Publisher) PreviewPlan(ctx context.Context, stack *v1.Stack, result *run.Result) (name, digest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	made := plan.Plan{}
	if result.Plan != nil {
		made = *result.Plan
	}
	data, err := inventory.EncodePlan(made)
	if err != nil {
		return "", "", err
	}
	return p.putConfigMap(ctx, stack, "-preview", inventory.PlanKey, data)
}
