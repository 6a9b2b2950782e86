// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// runPrerequisites asks for new runs of prerequisites that are too old.
func (r *StackReconciler) runPrerequisites(ctx context.Context, stale []*v1.Stack) error {
	for _, prerequisite := range stale {
		if err := r.runAgain(ctx, prerequisite); err != nil {
			return err
		}
	}
	return nil
}

// wait announces once what the Stack waits for. A reconcile request stays unhandled until the run that it asks for.
func (r *StackReconciler) wait(ctx context.Context, stack *v1.Stack, seen *observe.Observation, decision decide.Decision) error {
	before := conditions.Get(stack, meta.ReadyCondition)
	if err := r.patchStatus(ctx, stack, func() {
		if seen.Deleting {
			stackstatus.MarkWaiting(stack, decision.Message)
			return
		}
		stackstatus.MarkFailed(stack, decision.Reason, decision.Message)
	}); err != nil {
		return err
	}
	if !stackstatus.IsReported(before, decision) {
		r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeNormal, Reason: decision.Reason, Message: decision.Message})
	}
	return nil
}

// runAgain asks a prerequisite to run again, unless a request is open or this one was
// made before and led to nothing.
func (r *StackReconciler) runAgain(ctx context.Context, stack *v1.Stack) error {
	request := dependency.Request(stack)
	if stackstatus.Requested(stack) || stack.Annotations[meta.ReconcileRequestAnnotation] == request {
		return nil
	}
	before := stack.DeepCopy()
	if stack.Annotations == nil {
		stack.Annotations = map[string]string{}
	}
	stack.Annotations[meta.ReconcileRequestAnnotation] = request
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Patch(ctx, stack, patch, FieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("failed to ask prerequisite %s/%s to run again: %w", stack.Namespace, stack.Name, err)
	}
	return nil
}

// awaitApproval marks a Stack whose plan waits for an approval. The end of the run that has made
// the plan was announced.
func (r *StackReconciler) awaitApproval(ctx context.Context, stack *v1.Stack, seen *observe.Observation, decision decide.Decision) error {
	return r.patchStatus(ctx, stack, func() {
		stackstatus.MarkDecision(stack, decision, seen.Program.Revision, stackstatus.MarkAwaitingApproval)
	})
}
