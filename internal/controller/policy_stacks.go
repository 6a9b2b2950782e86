// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
)

// stacksOfPolicySet maps a PolicySet to the Stacks that it may select. The labels of their
// namespaces do not count: a reconcile of a Stack that it does not select costs next to nothing.
func (r *StackReconciler) stacksOfPolicySet(ctx context.Context, object client.Object) []ctrl.Request {
	set, ok := object.(*v1.PolicySet)
	if !ok {
		return nil
	}
	byLabels := &v1.PolicySet{Spec: v1.PolicySetSpec{StackSelector: set.Spec.StackSelector}}
	return r.stacksWhere(ctx, func(stack *v1.Stack) bool {
		selects, _ := policy.Selects(byLabels, policy.Subject{Labels: stack.Labels}) // with an error, it does
		return selects
	})
}

// stacksIn maps a namespace to the Stacks in it.
func (r *StackReconciler) stacksIn(ctx context.Context, namespace client.Object) []ctrl.Request {
	return r.stacksWhere(ctx, func(*v1.Stack) bool { return true }, client.InNamespace(namespace.GetName()))
}

// stacksOfPacks returns the Stacks that PolicySets may select which have such a pack.
func (r *StackReconciler) stacksOfPacks(ctx context.Context, uses func(*v1.PolicyPack) bool) []ctrl.Request {
	if !r.policies.have(ctx) {
		return nil
	}
	var sets v1.PolicySetList
	if err := r.List(ctx, &sets, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to list the PolicySets")
		return nil
	}
	var requests []ctrl.Request
	for i := range sets.Items {
		packs := sets.Items[i].Spec.Packs
		if slices.ContainsFunc(packs, func(pack v1.PolicyPack) bool { return uses(&pack) }) {
			requests = append(requests, r.stacksOfPolicySet(ctx, &sets.Items[i])...)
		}
	}
	return requests
}

// stacksWithPackIn maps a source to the Stacks that a pack in it guards.
func (r *StackReconciler) stacksWithPackIn(kind string) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []ctrl.Request {
		return r.stacksOfPacks(ctx, func(pack *v1.PolicyPack) bool {
			ref := pack.SourceRef
			return ref.Kind == kind && ref.Namespace == object.GetNamespace() && ref.Name == object.GetName()
		})
	}
}

// stacksWithConfigIn maps a ConfigMap to the Stacks that a pack with config in it guards.
func (r *StackReconciler) stacksWithConfigIn(ctx context.Context, object client.Object) []ctrl.Request {
	return r.stacksOfPacks(ctx, func(pack *v1.PolicyPack) bool {
		from := pack.ConfigFrom
		return from != nil && from.ConfigMap.Namespace == object.GetNamespace() && from.ConfigMap.Name == object.GetName()
	})
}

// eachOf maps an object to what each of the functions does.
func eachOf(functions ...handler.MapFunc) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []ctrl.Request {
		var requests []ctrl.Request
		for _, mapped := range functions {
			requests = append(requests, mapped(ctx, object)...)
		}
		return requests
	}
}

// stacksWhere lists Stacks of the cache.
func (r *StackReconciler) stacksWhere(ctx context.Context, selects func(*v1.Stack) bool, options ...client.ListOption) []ctrl.Request {
	var stacks v1.StackList
	if err := r.List(ctx, &stacks, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to list the Stacks that a PolicySet may select")
		return nil
	}
	var requests []ctrl.Request
	for i := range stacks.Items {
		if selects(&stacks.Items[i]) {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&stacks.Items[i])})
		}
	}
	return requests
}
