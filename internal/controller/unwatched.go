// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// unwatched deals with a Stack that the cache does not have. It was deleted, or
// its labels were changed in mid-run and give it to another controller: that one
// waits for the end of our run, which nobody but this process can tell of.
func (r *StackReconciler) unwatched(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	r.forgetDuration(req)
	r.inventories.drop(req.NamespacedName)
	stack := &v1.Stack{}
	err := r.APIReader.Get(ctx, req.NamespacedName, stack)
	if apierrors.IsNotFound(err) {
		stack.Namespace, stack.Name = req.Namespace, req.Name
		r.abandon(ctx, stack)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to find out whether Stack %s is deleted: %w", req.NamespacedName, err)
	}
	r.Runner.Release(req.Namespace, req.Name) // no run of it is begun here any more
	err = r.handOver(ctx, stack)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		// What was read is stale, and no watch tells of what is now.
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to hand over Stack %s: %w", req.NamespacedName, err)
	}
	return ctrl.Result{}, nil
}

// handOver writes what became of the run of this process, if that is the one that
// is recorded. While it is in flight that is no more than its creations of unknown
// outcome: the Stack is woken at its end.
func (r *StackReconciler) handOver(ctx context.Context, stack *v1.Stack) error {
	recorded := stack.Status.Run
	if recorded == nil {
		// The result was absorbed by a write whose answer was lost, or the object was
		// made anew.
		r.abandon(ctx, stack)
		return nil
	}
	if recorded.Holder != r.Holder {
		return nil
	}
	switch phase, result := r.Runner.Look(refOf(stack)); phase {
	case run.Running:
		return r.nameCreates(ctx, stack)
	case run.Ended:
		return r.absorb(ctx, stack, result)
	case run.Unknown:
		// The start was refused, and the record could not be withdrawn.
		return r.patchStatus(ctx, stack, func() { withdrawRun(stack) })
	}
	return nil
}
