// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/publish"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// publisher writes what belongs to a Stack beside its status.
func (r *StackReconciler) publisher() publish.Publisher {
	return publish.Publisher{Client: r.Client, Reader: r.APIReader, Owner: FieldOwner, Unwritten: &r.unwritten, Now: r.Now}
}

// writeInventory writes an inventory that could not be written before.
func (r *StackReconciler) writeInventory(ctx context.Context, stack *v1.Stack) error {
	before := stack.Status.Inventory
	status := r.publisher().RetryInventory(ctx, stack)
	if err := r.patchStatus(ctx, stack, func() { stackstatus.RecordInventory(stack, status) }); err != nil {
		return err
	}
	r.announceInventory(ctx, stack, before)
	return nil
}

// announceInventory announces a failed write once.
func (r *StackReconciler) announceInventory(ctx context.Context, stack *v1.Stack, before *v1.InventoryStatus) {
	key, now := client.ObjectKeyFromObject(stack), stack.Status.Inventory
	if now == nil || !r.unwritten.Has(key) || (before != nil && before.Message == now.Message) {
		return
	}
	r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: v1.InventoryFailedReason, Message: now.Message})
}

// deleteFormerOutputs deletes a Secret that was written and that the spec no longer names.
func (r *StackReconciler) deleteFormerOutputs(ctx context.Context, stack *v1.Stack) error {
	left, err := r.publisher().DeleteOutputs(ctx, stack, stack.Status.OutputsSecret.Name)
	r.announceLeft(ctx, stack, v1.OutputsFailedReason, left)
	if err != nil {
		return err
	}
	return r.patchStatus(ctx, stack, func() { stackstatus.MarkOutputsReleased(stack) })
}

// announceOutputs announces what became of the outputs.
func (r *StackReconciler) announceOutputs(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, before *v1.OutputsSecretStatus) {
	if e, isNew := stackstatus.OutputsEvent(stack, record, before); isNew {
		r.announce(ctx, stack, e)
	}
}
