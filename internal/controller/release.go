// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// A run is left to the process that recorded it until that is proven to be gone. If
// nothing can prove it, as for a process outside of the cluster on a host that never
// comes back, a person may say so with an annotation that names the run. Run IDs are
// unique, so the annotation works once, and does nothing if it is left behind.

// unprovenJob returns why nothing proves whether the Job of a run is at work, "" if the run
// has none, or that is known.
func (r *StackReconciler) unprovenJob(stack *v1.Stack) string {
	if stack.Status.Run.Job == "" {
		return ""
	}
	return r.Runner.Report(refOf(stack)).Unproven
}

// release gives up on a run that a person says is over. The Secret of a Job is deleted, so
// that no pod can start the run any more. The files of any other run are kept for its
// recovery.
func (r *StackReconciler) release(ctx context.Context, stack *v1.Stack) error {
	released, of := *stack.Status.Run, refOf(stack)
	if err := r.markInterrupted(ctx, stack, stackstatus.ReleasedText(&released)); err != nil || released.Job == "" {
		return err
	}
	if err := r.Runner.Forget(of); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to delete the Secret of a run that was released", "run", released.ID)
	}
	return nil
}
