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
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// unwatched handles a Stack that is not in the cache. Either it was deleted, or its
// labels were changed in mid-run and assign it to another controller, which waits for the
// end of our run. Only this process can report that.
func (r *StackReconciler) unwatched(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	r.forgetDuration(req)
	r.unwritten.Drop(req.NamespacedName)
	stack := &v1.Stack{}
	err := r.APIReader.Get(ctx, req.NamespacedName, stack)
	if apierrors.IsNotFound(err) {
		stack.Namespace, stack.Name = req.Namespace, req.Name
		return ctrl.Result{}, r.abandon(ctx, stack)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to find out whether Stack %s is deleted: %w", req.NamespacedName, err)
	}
	r.Runner.Release(req.Namespace, req.Name) // it starts no more runs here
	err = r.handOver(ctx, stack)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		// What was read is stale, and no watch reports a newer version.
		return ctrl.Result{RequeueAfter: watches.ConflictRetry}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to hand over Stack %s: %w", req.NamespacedName, err)
	}
	return ctrl.Result{}, nil
}

// handOver writes what became of the recorded run if it is one of this process. While it
// is in flight, that is only its creations of unknown outcome: its end triggers another
// reconcile.
func (r *StackReconciler) handOver(ctx context.Context, stack *v1.Stack) error {
	recorded := stack.Status.Run
	if recorded == nil {
		// The result was absorbed by a write whose response was lost, or the object was
		// recreated.
		return r.abandon(ctx, stack)
	}
	if recorded.Holder != r.Holder {
		return nil
	}
	switch phase, result := r.Runner.Look(refOf(stack)); phase {
	case run.Running:
		return r.recordFindings(ctx, stack)
	case run.Ended:
		return r.absorb(ctx, stack, result)
	case run.Unknown:
		// The start was refused, and the record could not be withdrawn.
		return r.patchStatus(ctx, stack, func() { stackstatus.DropRecord(stack) })
	}
	return nil
}
