// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// PreviewSteps writes what an update would do to each resource, and returns the name of the
// ConfigMap and the digest of its data.
func (p Publisher) PreviewSteps(ctx context.Context, stack *v1.Stack, result *run.Result) (name, digest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	data, err := inventory.EncodeSteps(inventory.Steps{Steps: result.Steps, LeftOut: result.StepsLeftOut})
	if err != nil {
		return "", "", err
	}
	return p.putConfigMap(ctx, stack, "-preview", inventory.StepsKey, data)
}
