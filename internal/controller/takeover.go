// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// A Stack that comes from the Pulumi operator is taken over without a run if its status
// proves that the operator applied the current spec and program. What the operator does
// not watch, such as the values of Secrets, it has not noticed either. Whatever is not
// proven is run: an update without changes does no harm.

// inputsOf returns what the status says of the current inputs.
func inputsOf(seen *observe.Observation) stackstatus.Inputs {
	return stackstatus.Inputs{
		Revision: seen.Program.Revision, OriginRevision: seen.Program.OriginRevision, Digest: seen.Digest, Project: seen.Program.Project,
	}
}

// takeOver records what the Pulumi operator has applied as applied.
func (r *StackReconciler) takeOver(ctx context.Context, stack *v1.Stack, seen *observe.Observation) error {
	if err := r.addFinalizer(ctx, stack); err != nil {
		return err
	}
	before := stackstatus.ReadinessOf(stack)
	if err := r.patchStatus(ctx, stack, func() { stackstatus.MarkTakenOver(stack, inputsOf(seen)) }); err != nil {
		return err
	}
	r.announce(ctx, stack, stackstatus.Event{
		Type:           corev1.EventTypeNormal,
		Reason:         meta.ReconciliationSucceededReason,
		Message:        conditions.GetMessage(stack, meta.ReadyCondition),
		Revision:       seen.Program.Revision,
		OriginRevision: seen.Program.OriginRevision,
	})
	r.emitReady(before, stack, seen.Program.Revision, seen.Program.OriginRevision)
	return nil
}
