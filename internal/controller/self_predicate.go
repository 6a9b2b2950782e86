// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// selfChangedPredicate passes a change of the labels or the annotations of a Stack
// that has a readyExpr, as that may ask for them by its variable self. They are no
// part of the generation. The status is left out: each write of ours would be a
// reconcile more.
func selfChangedPredicate() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			stack, ok := e.ObjectNew.(*v1.Stack)
			if !ok || e.ObjectOld == nil || !slices.ContainsFunc(stack.Spec.DependsOn, hasExpression) {
				return false
			}
			return !maps.Equal(e.ObjectOld.GetLabels(), stack.Labels) || !maps.Equal(e.ObjectOld.GetAnnotations(), stack.Annotations)
		},
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func hasExpression(d v1.DependencyReference) bool { return d.ReadyExpr != "" }
