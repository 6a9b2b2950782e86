// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/owned"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

const driftSuffix = "-drift"

// Drift writes what a check for drift has found, and returns the name of the ConfigMap and the
// digest of its data. As long as that is the same, nothing is written.
func (p Publisher) Drift(ctx context.Context, stack *v1.Stack, found plan.Plan) (name, digest string, err error) {
	return p.putPlan(ctx, stack, driftSuffix, found)
}

// DropDrift deletes what was written of drift that is gone.
func (p Publisher) DropDrift(ctx context.Context, stack *v1.Stack) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	name := owned.Name(stack.Name, driftSuffix)
	before, err := p.ownedMeta(ctx, stack, name)
	if err != nil || before == nil {
		return err
	}
	return p.deleteConfigMap(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}, before.UID)
}
