// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
)

// dependencyIndex indexes Stacks by the Stacks they depend on.
const dependencyIndex = ".metadata.dependency"

func dependencyKeys(stack *v1.Stack) []string {
	edges := dependency.Edges(stack, false)
	keys := make([]string, 0, len(edges))
	for _, edge := range edges {
		keys = append(keys, edge.String())
	}
	return keys
}

// listDependents lists the direct dependents of a Stack. The objects are the cache's and
// must not be modified. Where references to other namespaces are denied, Stacks of other
// namespaces do not count, or one tenant could block the deletion of another's Stacks.
func (r *StackReconciler) listDependents(ctx context.Context, key client.ObjectKey) ([]v1.Stack, error) {
	options := []client.ListOption{client.MatchingFields{dependencyIndex: key.String()}, client.UnsafeDisableDeepCopy}
	if r.NoCrossNamespaceRefs {
		options = append(options, client.InNamespace(key.Namespace))
	}
	var stacks v1.StackList
	if err := r.List(ctx, &stacks, options...); err != nil {
		return nil, fmt.Errorf("failed to list the Stacks that depend on Stack %s: %w", key, err)
	}
	return stacks.Items, nil
}

// dependentGraph leads from Stacks to their dependents.
func (r *StackReconciler) dependentGraph(ctx context.Context) dependency.Graph {
	return func(key client.ObjectKey) ([]client.ObjectKey, error) {
		stacks, err := r.listDependents(ctx, key)
		keys := make([]client.ObjectKey, 0, len(stacks))
		for i := range stacks {
			keys = append(keys, client.ObjectKeyFromObject(&stacks[i]))
		}
		return keys, err
	}
}

// observeDependents finds the Stacks that have to be gone before this one is destroyed.
// Those that this one in turn depends on do not count: in a cycle, all would wait
// forever.
func (r *StackReconciler) observeDependents(ctx context.Context, stack *v1.Stack, seen *observed) error {
	self := client.ObjectKeyFromObject(stack)
	all, err := r.allDependents(ctx, self)
	if err != nil || len(all) == 0 {
		return err
	}
	before, err := r.dependencyGraph(ctx).Reach(self)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(key client.ObjectKey) bool { return key == self || before[key] })
	for _, key := range all {
		seen.Dependents = append(seen.Dependents, key.String())
	}
	slices.Sort(seen.Dependents)
	r.noteUntold(ctx, seen, all...)
	return nil
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
	stacks, err := r.listDependents(ctx, key)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Stacks may wait for longer than they have to")
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
	all, err := r.dependentGraph(ctx).Reach(client.ObjectKeyFromObject(stack))
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Stacks may wait for longer than they have to")
	}
	for key := range all {
		wake(q, key)
	}
}
