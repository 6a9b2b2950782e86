// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// recordFindings writes what the run in flight has found out.
func (r *StackReconciler) recordFindings(ctx context.Context, stack *v1.Stack) error {
	return r.patchFindings(ctx, stack, func() {})
}

// patchFindings writes what the run in flight has found out, and more. As with a result,
// what a policy of the cluster refuses of the stack must not hold up the rest.
func (r *StackReconciler) patchFindings(ctx context.Context, stack *v1.Stack, more func()) error {
	before := stack.Status.DeepCopy()
	err := r.patchStatus(ctx, stack, func() {
		r.addFindings(stack)
		more()
	})
	if apierror.IsRefused(err) {
		stack.Status = *before
		err = r.patchStatus(ctx, stack, func() {
			report := r.Runner.Report(refOf(stack))
			stackstatus.AddUnknownCreates(stack, report.UnknownCreates)
			stackstatus.AddFound(stack, run.Found{Emptied: report.Found.Emptied})
			more()
		})
	}
	if err != nil {
		return err
	}
	r.confirmFindings(stack)
	return nil
}

// confirmFindings tells the run in flight that the status has what it waits for.
func (r *StackReconciler) confirmFindings(stack *v1.Stack) {
	of := refOf(stack)
	if found := r.Runner.Report(of).Found; found.Emptied && stack.Status.Run.Emptied {
		r.Runner.ConfirmFound(of, found)
	}
}

// addFindings adds what the run in flight has found out, as far as it has a result only
// later: whoever recovers from it has to know this.
func (r *StackReconciler) addFindings(stack *v1.Stack) {
	report := r.Runner.Report(refOf(stack))
	stackstatus.AddUnknownCreates(stack, report.UnknownCreates)
	stackstatus.AddFound(stack, report.Found)
}
