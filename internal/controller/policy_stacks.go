// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

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

// stacksOfSetsThatUse maps an object to the Stacks that PolicySets which use it may select.
func (r *StackReconciler) stacksOfSetsThatUse(uses func(*v1.PolicySet, client.Object) bool) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []ctrl.Request {
		sets, err := r.policies.SetsThat(ctx, func(set *v1.PolicySet) bool { return uses(set, object) })
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "failed to find the Stacks that a policy pack guards")
		}
		var requests []ctrl.Request
		for _, set := range sets {
			requests = append(requests, r.stacksOfPolicySet(ctx, set)...)
		}
		return requests
	}
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
