// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
)

func dependencyKeys(stack *v1.Stack) []string {
	edges := dependency.Edges(stack, false)
	keys := make([]string, 0, len(edges))
	for _, edge := range edges {
		keys = append(keys, edge.String())
	}
	return keys
}

// queue is the work queue of Stacks.
type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// orderHandler enqueues the Stacks that a change of another Stack may concern, so that
// none has to poll. The events come from the cache that reconciles read, after it was
// updated, so a Stack that has just decided to wait on the old state is enqueued again.
func (r *StackReconciler) orderHandler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			// At startup all Stacks are reconciled anyway.
			if stack, ok := e.Object.(*v1.Stack); ok && !e.IsInInitialList {
				r.wakeAllDependents(ctx, stack, q)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, okBefore := e.ObjectOld.(*v1.Stack)
			after, okAfter := e.ObjectNew.(*v1.Stack)
			if okBefore && okAfter {
				r.wakeOthers(ctx, after, dependency.Compare(before, after), q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			stack, ok := e.Object.(*v1.Stack)
			if !ok {
				return
			}
			r.expressions.Drop(stack.UID)
			r.wakeAllDependents(ctx, stack, q)
			wake(q, dependency.Edges(stack, false)...) // those being deleted may have waited for this one
		},
	}
}

func wake(q queue, keys ...client.ObjectKey) {
	for _, key := range keys {
		q.Add(ctrl.Request{NamespacedName: key})
	}
}

// wakeOthers enqueues the Stacks that a change concerns.
func (r *StackReconciler) wakeOthers(ctx context.Context, stack *v1.Stack, change dependency.Change, q queue) {
	wake(q, change.Freed...)
	if change.Order {
		r.wakeAllDependents(ctx, stack, q)
		return
	}
	if !change.Ready && !change.Any {
		return
	}
	key := client.ObjectKeyFromObject(stack)
	stacks, err := r.observer().Dependents(ctx, key)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Stacks may wait longer than necessary")
		return
	}
	for i := range stacks {
		if change.Ready || looksAt(&stacks[i], key) {
			wake(q, client.ObjectKeyFromObject(&stacks[i]))
		}
	}
}

// looksAt reports whether the Stack has a readyExpr for the dependency.
func looksAt(stack *v1.Stack, key client.ObjectKey) bool {
	return slices.ContainsFunc(stack.Spec.DependsOn, func(d v1.DependencyReference) bool {
		return d.ReadyExpr != "" && dependency.KeyOf(stack, d) == key
	})
}

// wakeAllDependents enqueues the direct and indirect dependents of the Stack, including
// all that are in a cycle with it.
func (r *StackReconciler) wakeAllDependents(ctx context.Context, stack *v1.Stack, q queue) {
	all, err := r.observer().DependentGraph(ctx).Reach(client.ObjectKeyFromObject(stack))
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Stacks may wait longer than necessary")
	}
	for key := range all {
		wake(q, key)
	}
}
