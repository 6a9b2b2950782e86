// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// RunsInUse are the IDs of the runs whose files may still be needed: those
// recorded as in flight, and those to be recovered from.
func (r *StackReconciler) RunsInUse(ctx context.Context, opts ...client.ListOption) (map[string]bool, error) {
	inUse := map[string]bool{}
	stacks := &v1.StackList{}
	if err := r.APIReader.List(ctx, stacks, opts...); err != nil {
		return nil, fmt.Errorf("failed to list Stacks: %w", err)
	}
	for i := range stacks.Items {
		status := &stacks.Items[i].Status
		if status.Run != nil {
			inUse[status.Run.ID] = true
		}
		for _, lost := range status.Interrupted {
			inUse[lost.ID] = true
		}
	}
	return inUse, nil
}

// absorbPatience is how AbsorbAll tries again when the API server refuses or
// does not answer: for about ten seconds.
func absorbPatience() wait.Backoff {
	return wait.Backoff{Steps: 7, Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.1}
}

// AbsorbAll writes the results of runs that have ended when reconciles have
// ended too. What cannot be written stays with the runner, on disk, for the next
// process.
func (r *StackReconciler) AbsorbAll(ctx context.Context, ended []run.Ref) error {
	var errs []error
	for _, ref := range ended {
		err := retry.OnError(absorbPatience(), func(error) bool { return ctx.Err() == nil }, func() error {
			return r.absorbRef(ctx, ref)
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("failed to absorb run %s of Stack %s/%s: %w", ref.ID, ref.Namespace, ref.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (r *StackReconciler) absorbRef(ctx context.Context, ref run.Ref) error {
	stack := &v1.Stack{}
	if err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, stack); err != nil {
		return client.IgnoreNotFound(err)
	}
	phase, result := r.Runner.Look(ref.ID)
	if stack.Status.Run == nil || stack.Status.Run.ID != ref.ID || phase != run.Ended {
		return nil
	}
	return r.absorb(ctx, stack, result)
}
