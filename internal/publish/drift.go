// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/owned"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

const driftSuffix = "-drift"

// driftAfterRun writes what a check for drift has found, and returns where it is. The counts are
// in the status all the same if that fails. What an earlier check has written is named until it
// is replaced or deleted, or nothing would ever delete it.
func (p Publisher) driftAfterRun(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) stackstatus.DriftDetails {
	switch {
	case result.Drift == nil:
		return stackstatus.DriftDetails{}
	case result.Drift.Found.IsEmpty():
		return p.DropDrift(ctx, stack)
	}
	name, digest, err := p.Drift(ctx, stack, result.Drift.Found)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to write what has drifted", "run", record.ID)
		return stackstatus.OutdatedDriftDetails(stack)
	}
	return stackstatus.DriftDetails{ConfigMap: name, ContentDigest: digest}
}

// DropDrift deletes what was written of drift that is gone, and returns what is left.
func (p Publisher) DropDrift(ctx context.Context, stack *v1.Stack) stackstatus.DriftDetails {
	left := stackstatus.OutdatedDriftDetails(stack)
	if left.ConfigMap == "" {
		return left
	}
	if err := p.dropDrift(ctx, stack); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to delete what was written of drift that is gone")
		return left
	}
	return stackstatus.DriftDetails{}
}

// Drift writes what a check for drift has found, and returns the name of the ConfigMap and the
// digest of its data. As long as that is the same, nothing is written.
func (p Publisher) Drift(ctx context.Context, stack *v1.Stack, found plan.Plan) (name, digest string, err error) {
	return p.putPlan(ctx, stack, driftSuffix, found)
}

// dropDrift deletes the ConfigMap.
func (p Publisher) dropDrift(ctx context.Context, stack *v1.Stack) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	name := owned.Name(stack.Name, driftSuffix)
	before, err := p.ownedMeta(ctx, stack, name)
	if err != nil || before == nil {
		return err
	}
	return p.deleteConfigMap(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}, before.UID)
}
