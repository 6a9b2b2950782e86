// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// reportProgress writes the progress of the run in flight to the status, where the next process
// finds it too.
func (r *StackReconciler) reportProgress(ctx context.Context, stack *v1.Stack, now time.Time) error {
	progress, unproven := r.Runner.Report(refOf(stack)).Progress, r.unprovenJob(stack)
	return r.patchFindings(ctx, stack, func() {
		stackstatus.MarkProgress(stack, progress, now)
		if unproven != "" && run.KindOfRecord(stack.Status.Run).InConditions {
			stackstatus.MarkWaiting(stack, stackstatus.UnprovenJobText(stack, unproven))
		}
	})
}
