// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// identityIndex finds the Stacks that update the same stack.
const identityIndex = ".status.identity"

// maxShared bounds the Stacks that are named as updating the same stack.
const maxShared = 5

func identityKeys(stack *v1.Stack) []string {
	if identity := stackstatus.Identity(stack); identity != "" {
		return []string{identity}
	}
	return nil
}

// announceShared warns about other Stacks that update the same stack, once a run has found that. Neither is
// stopped: the Pulumi operator does not either, and it may be intended for a while.
func (r *StackReconciler) announceShared(ctx context.Context, before, stack *v1.Stack) {
	identity := stackstatus.Identity(stack)
	if identity == "" || identity == stackstatus.Identity(before) || (r.Jobs != nil && stackstatus.HasOwnFiles(stack)) {
		return
	}
	var same v1.StackList
	if err := r.List(ctx, &same, client.MatchingFields{identityIndex: identity}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to list the Stacks that update the same stack")
		return
	}
	named := 0
	for i := range same.Items {
		other := &same.Items[i]
		if client.ObjectKeyFromObject(other) == client.ObjectKeyFromObject(stack) || named == maxShared {
			continue
		}
		named++
		r.announce(ctx, stack, stackstatus.SharedEvent(stack, other, !r.NoCrossNamespaceRefs))
		if r.NoCrossNamespaceRefs && other.Namespace != stack.Namespace {
			// The program of a run in a Job may report any backend and project.
			ctrl.LoggerFrom(ctx).Info("another Stack updates the same stack", "stack", stack.Spec.Stack, "other", client.ObjectKeyFromObject(other))
			continue
		}
		r.emit(other, stackstatus.SharedEvent(other, stack, true))
	}
}
