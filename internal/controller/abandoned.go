// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// If someone removes the finalizer of a Stack in mid-run, the object goes at once, and no
// status says how its run ends. This file deals with what such a run leaves behind.

// abandon makes the runner forget the runs of an object that is gone or was recreated.
// What they left open is announced first, as nothing else knows about it. Of the Stack,
// only the name may be set.
func (r *StackReconciler) abandon(ctx context.Context, stack *v1.Stack) error {
	all, err := r.abandoned(stack)
	if err != nil {
		return err
	}
	r.forgetAbandoned(ctx, stack, all)
	return nil
}

func (r *StackReconciler) forgetAbandoned(ctx context.Context, stack *v1.Stack, all []stackstatus.AbandonedRun) {
	r.announceAbandoned(ctx, stack, all)
	r.Runner.Release(stack.Namespace, stack.Name)
	for _, ended := range r.endedRuns(stack) {
		if err := r.Runner.Forget(ended); err != nil {
			// It is deleted later, or by the next controller.
			ctrl.LoggerFrom(ctx).Error(err, "failed to delete what a run has left", "run", ended.ID)
		}
	}
}

// endedRuns returns the runs of a Stack of that name that have ended here.
func (r *StackReconciler) endedRuns(stack *v1.Stack) []run.Ref {
	return slices.DeleteFunc(r.Runner.Ended(), func(ended run.Ref) bool {
		return ended.Namespace != stack.Namespace || ended.Name != stack.Name
	})
}

func (r *StackReconciler) announceAbandoned(ctx context.Context, stack *v1.Stack, all []stackstatus.AbandonedRun) {
	for _, left := range all {
		r.announce(ctx, stack, stackstatus.AbandonedEvent(stack, left))
		for _, urn := range left.Creates() {
			ctrl.LoggerFrom(ctx).Info("an abandoned run left a creation of unknown outcome", "run", left.ID, "urn", urn)
		}
	}
}

// abandonTo abandons the runs of the earlier object of a recreated Stack, or those whose
// record the API server has dropped. If they were for the same stack, its status takes over
// their creations of unknown outcome: the runner keeps them until the API server does.
func (r *StackReconciler) abandonTo(ctx context.Context, stack *v1.Stack) error {
	all, err := r.abandoned(stack)
	if err != nil {
		return err
	}
	isReported := stackstatus.IsKnownNotKept(stack)
	err = r.patchStatus(ctx, stack, func() {
		for _, left := range all {
			if stackstatus.IsSameStack(stack, left) {
				stackstatus.AddUnknownCreates(stack, left.Creates())
			}
		}
	})
	if notKept := (*notKeptError)(nil); errors.As(err, &notKept) && !isReported {
		r.announceAbandoned(ctx, stack, all) // now, as this process may die before the status has them
	}
	if err != nil {
		return err
	}
	r.forgetAbandoned(ctx, stack, all)
	return nil
}

// abandoned returns the runs of an earlier object that left something open. It skips the
// run that the status already has: only the response to that write was lost.
func (r *StackReconciler) abandoned(stack *v1.Stack) ([]stackstatus.AbandonedRun, error) {
	var left []stackstatus.AbandonedRun
	for _, ended := range r.endedRuns(stack) {
		if last := stackstatus.LastRun(stack); last != nil && last.ID == ended.ID {
			continue
		}
		_, result := r.Runner.Look(ended)
		if result == nil {
			return nil, fmt.Errorf("the result of run %s cannot be read yet", ended.ID)
		}
		if run := (stackstatus.AbandonedRun{ID: ended.ID, Result: result}); result.Interrupted || len(run.Creates()) > 0 {
			left = append(left, run)
		}
	}
	return left, nil
}
