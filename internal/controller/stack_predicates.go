// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// stackUpdated passes only updates of Stacks for which the function returns true.
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

// runEndedPredicate passes the status write that absorbed a run. The event proves that
// the cache has the result, so the next decision does not rest on a stale copy.
func runEndedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return before.Status.Run != nil && after.Status.Run == nil
	})
}

// stackMovedPredicate passes the end of a run that has changed something, which outdates previews of the Stack, and
// another reason of its readiness: what kept their plans from being compared may be gone, such as a missing Secret.
func stackMovedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return stackstatus.LastChange(before) != stackstatus.LastChange(after) ||
			conditions.GetReason(before, meta.ReadyCondition) != conditions.GetReason(after, meta.ReadyCondition)
	})
}

// finalizerLostPredicate passes the removal of the finalizer from a Stack that is not
// being deleted. The finalizer has to be back before a deletion, which would give no
// notice.
func finalizerLostPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return after.DeletionTimestamp.IsZero() &&
			controllerutil.ContainsFinalizer(before, v1.StackFinalizer) && !controllerutil.ContainsFinalizer(after, v1.StackFinalizer)
	})
}

// runReleasedPredicate passes the annotation by which a person releases the recorded run.
func runReleasedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return stackstatus.IsReleased(after) && !stackstatus.IsReleased(before)
	})
}

// runCancelledPredicate passes a new request to cancel the recorded run.
func runCancelledPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		asked := stackstatus.CancelAsked(after, after.Status.Run)
		return asked != "" && asked != stackstatus.CancelAsked(before, after.Status.Run)
	})
}

// planDecidedPredicate passes an approval or a rejection of a plan, or its removal.
func planDecidedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return before.Annotations[v1.ApproveAnnotation] != after.Annotations[v1.ApproveAnnotation] ||
			before.Annotations[v1.RejectAnnotation] != after.Annotations[v1.RejectAnnotation]
	})
}

// previewRequestedPredicate passes a new request for a preview, and the end of one that
// waits for its turn or for its pod.
func previewRequestedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		value, ok := after.Annotations[v1.PreviewRequestAnnotation]
		return (ok || stackstatus.PreviewWaits(after) || (after.Status.Run != nil && run.KindOfRecord(after.Status.Run).OnRequest)) && value != before.Annotations[v1.PreviewRequestAnnotation]
	})
}

// checkRequestedPredicate passes a new request for a check for drift, and its removal.
func checkRequestedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return before.Annotations[v1.CheckDriftAnnotation] != after.Annotations[v1.CheckDriftAnnotation]
	})
}

// operatorRequestedPredicate passes a new request in the annotation of the Pulumi
// operator.
func operatorRequestedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		value, ok := after.Annotations[v1.ReconcileRequestAnnotation]
		return ok && value != before.Annotations[v1.ReconcileRequestAnnotation]
	})
}

// selfChangedPredicate passes changes of labels or annotations, which do not change the
// generation, on a Stack with a readyExpr: that may read them through its variable self.
// It does not pass status changes, or each of our writes would cause another reconcile.
func selfChangedPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return slices.ContainsFunc(after.Spec.DependsOn, hasExpression) &&
			(!maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations))
	})
}

// relabelledPredicate passes a Stack with other labels, by which a PolicySet may select it or not.
func (r *StackReconciler) relabelledPredicate() predicate.Predicate {
	return stackUpdated(func(before, after *v1.Stack) bool {
		return !maps.Equal(before.Labels, after.Labels) && r.policies.MayHaveSets()
	})
}

func hasExpression(d v1.DependencyReference) bool { return d.ReadyExpr != "" }
