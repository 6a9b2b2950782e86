// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

const (
	// lastWritesAtOnce bounds the Stacks that are written concurrently at shutdown.
	lastWritesAtOnce = 8
	// lastWritesRetry is how long to wait before a failed write is retried.
	lastWritesRetry = 250 * time.Millisecond
)

// lastWrite is a write to be made before the process ends.
type lastWrite struct {
	ref run.Ref
	err error
}

// WriteAll writes what this process knows about its runs, once reconciles have ended: the
// results of those that have ended, and for those in flight that they are left to the
// next process. It retries until ctx is done; a result that is not written stays with the
// runner, on disk, for the next process.
func (r *StackReconciler) WriteAll(ctx context.Context, runs []run.Ref) error {
	var all []*lastWrite
	for _, ref := range runs {
		all = append(all, &lastWrite{ref: ref})
	}
	pending := all
	err := wait.PollUntilContextCancel(ctx, lastWritesRetry, true, func(ctx context.Context) (bool, error) {
		r.tryAll(ctx, pending)
		pending = slices.DeleteFunc(slices.Clone(pending), func(w *lastWrite) bool { return !w.again() })
		return len(pending) == 0, nil
	})
	errs := []error{err}
	for _, w := range all {
		if w.err != nil {
			errs = append(errs, fmt.Errorf("failed to write run %s to the status of Stack %s/%s: %w", w.ref.ID, w.ref.Namespace, w.ref.Name, w.err))
		}
	}
	return errors.Join(errs...)
}

// tryAll tries each write once, so that a failing one does not hold up the others.
func (r *StackReconciler) tryAll(ctx context.Context, writes []*lastWrite) {
	var tries errgroup.Group
	tries.SetLimit(lastWritesAtOnce)
	for _, w := range writes {
		tries.Go(func() error {
			w.err = r.writeRef(ctx, w.ref)
			return nil
		})
	}
	_ = tries.Wait() // each keeps its own error
}

// again is false for what is done, and for what a retry cannot fix.
func (w *lastWrite) again() bool {
	hopeless := apierrors.IsForbidden(w.err) || apierrors.IsInvalid(w.err) || apierror.IsTooLarge(w.err)
	return w.err != nil && !hopeless
}

// writeRef writes what became of the run. The record of a run in flight stays, so that
// the next controller recovers from it.
func (r *StackReconciler) writeRef(ctx context.Context, ref run.Ref) error {
	stack := &v1.Stack{}
	if err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, stack); err != nil {
		return client.IgnoreNotFound(err)
	}
	if stack.Status.Run == nil || stack.Status.Run.ID != ref.ID {
		return nil
	}
	switch phase, result := r.Runner.Look(ref); phase {
	case run.Running:
		return r.patchStatus(ctx, stack, func() {
			r.addFindings(stack)
			stackstatus.MarkLeftInFlight(stack)
		})
	case run.Ended:
		// Log with the keys of a reconcile, by which flux logs finds a Stack.
		ctx = ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("controller", "stack", "controllerGroup", v1.GroupVersion.Group,
			"controllerKind", v1.StackKind, "namespace", ref.Namespace, "name", ref.Name))
		return r.absorb(ctx, stack, result)
	}
	return nil
}
