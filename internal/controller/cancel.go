// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// A person cancels a run with an annotation that names it. Run IDs are unique, so the
// annotation works once, and does nothing if it is left behind. The request is written to
// the record of the run before the runner gets it, and the end of the run to the status,
// so that no later controller starts the run again.

// cancel records that the run in flight is to be cancelled, and cancels it.
func (r *StackReconciler) cancel(ctx context.Context, stack *v1.Stack) error {
	if err := r.patchStatus(ctx, stack, func() { stackstatus.RecordCancel(stack) }); err != nil {
		return err
	}
	return r.Runner.Cancel(refOf(stack), stack.Status.Run.Cancel == v1.CancelNow)
}
