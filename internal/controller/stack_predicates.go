// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// stackUpdated passes the updates of Stacks that the function is true for, and
// nothing else.
func stackUpdated(passes func(before, after *v1.Stack) bool) predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(*v1.Stack)
			after, okAfter := e.ObjectNew.(*v1.Stack)
			return okBefore && okAfter && passes(before, after)
		},
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// runEndedPredicate passes the status write that absorbed a run. Coming through
// the cache, it is proof that the cache has the result, so what the Stack needs
// next is decided on what is.
func runEndedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return before.Status.Run != nil && after.Status.Run == nil
	})
}

// finalizerLostPredicate passes the write of somebody who has removed the finalizer
// of a Stack that is to stay. That is put back at once: nothing tells of a deletion
// before then.
func finalizerLostPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return after.DeletionTimestamp.IsZero() &&
			controllerutil.ContainsFinalizer(before, v1.StackFinalizer) && !controllerutil.ContainsFinalizer(after, v1.StackFinalizer)
	})
}

// runReleasedPredicate passes the word of a person that the run which is recorded is
// nobody's any more.
func runReleasedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool { return isReleased(after) && !isReleased(before) })
}

// runCancelledPredicate passes the wish of a person that the run which is recorded
// ends.
func runCancelledPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		asked := cancelAsked(after, after.Status.Run)
		return asked != "" && asked != cancelAsked(before, after.Status.Run)
	})
}

// previewRequestedPredicate passes a new request for a preview.
func previewRequestedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		value, ok := after.Annotations[v1.PreviewRequestAnnotation]
		return ok && value != before.Annotations[v1.PreviewRequestAnnotation]
	})
}

// operatorRequestedPredicate passes a new request in the words of the Pulumi
// operator.
func operatorRequestedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		value, ok := after.Annotations[v1.ReconcileRequestAnnotation]
		return ok && value != before.Annotations[v1.ReconcileRequestAnnotation]
	})
}

// selfChangedPredicate passes a change of the labels or the annotations of a Stack
// that has a readyExpr, as that may ask for them by its variable self. They are no
// part of the generation. The status is left out: each write of ours would be a
// reconcile more.
func selfChangedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return slices.ContainsFunc(after.Spec.DependsOn, hasExpression) &&
			(!maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations))
	})
}

func hasExpression(d v1.DependencyReference) bool { return d.ReadyExpr != "" }
