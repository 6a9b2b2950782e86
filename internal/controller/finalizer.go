// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// addFinalizer adds the finalizer, with the first run. Until then there is nothing to undo, and
// the object can be deleted at once.
func (r *StackReconciler) addFinalizer(ctx context.Context, stack *v1.Stack) error {
	before := stack.DeepCopy()
	if !controllerutil.AddFinalizer(stack, v1.StackFinalizer) {
		return nil
	}
	if err := r.Patch(ctx, stack, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), FieldOwner); err != nil {
		return fmt.Errorf("failed to add the finalizer: %w", err)
	}
	return nil
}

// removeFinalizer lets the object of a deleted Stack go.
func (r *StackReconciler) removeFinalizer(ctx context.Context, stack *v1.Stack, seen *observe.Observation) error {
	r.releaseGit(ctx, stack)
	left, err := r.publisher().ReleaseOutputs(ctx, stack)
	r.announceLeft(ctx, stack, v1.OutputsFailedReason, left)
	if err != nil {
		return err
	}
	if err := r.publisher().SettleHistory(ctx, stack); err != nil {
		return err
	}
	before := stack.DeepCopy()
	if !controllerutil.RemoveFinalizer(stack, v1.StackFinalizer) {
		return nil
	}
	if err := r.Patch(ctx, stack, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), FieldOwner); err != nil {
		return fmt.Errorf("failed to remove the finalizer: %w", err)
	}
	for _, left := range stackstatus.LeftEvents(stack, seen.Observation) {
		r.announce(ctx, stack, left)
	}
	if reason, while := notDestroyed(seen); reason != "" {
		r.announce(ctx, stack, stackstatus.Event{
			Type:    corev1.EventTypeWarning,
			Reason:  reason,
			Message: fmt.Sprintf("The Stack was deleted while %s: stack %s was not destroyed", while, stack.Spec.Stack),
		})
	}
	return nil
}

// notDestroyed returns why a Stack with destroyOnFinalize was released without a destroy.
// One that was suspended only while its destroy was in flight is gone all the same.
func notDestroyed(seen *observe.Observation) (reason, while string) {
	switch {
	case !seen.DestroyOnFinalize || seen.NeverRan || decide.Destroyed(seen.Observation):
		return "", ""
	case seen.Suspended:
		return meta.SuspendedReason, "suspended"
	case seen.Preview:
		return v1.NotDestroyedReason, "it only previewed"
	}
	return "", ""
}
