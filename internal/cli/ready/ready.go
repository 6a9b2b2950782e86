// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package ready says from an object alone whether what was asked of it is done: values
// in, a verdict out. It must need no client and no clock.
package ready

import (
	"errors"
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
)

// Handled is the reconcile request that the object has last acted on.
func Handled(object *unstructured.Unstructured) string {
	handled, _, _ := unstructured.NestedString(object.Object, "status", "lastHandledReconcileAt")
	return handled
}

// Suspended tells whether spec.suspend is set.
func Suspended(object *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend")
	return suspended
}

// Message is that of the Ready condition. What has other conditions, as a Deployment,
// is read as kstatus does.
func Message(object *unstructured.Unstructured) string {
	if ready := readyCondition(object); ready != nil {
		return ready.Message
	}
	if result, err := status.Compute(object); err == nil && len(rows.Conditions(object)) > 0 && result.Message != "" {
		return result.Message
	}
	return "waiting to be reconciled"
}

// TakenUp tells whether a controller has seen what is asked of the object, by a request or
// by its spec, as far as the object shows that.
func TakenUp(object *unstructured.Unstructured) bool {
	// What is tried again says so without a controller too.
	return inFlight(object) || !triedAgain(object) || allSeen(object)
}

// allSeen tells whether the status says that a controller has seen all that is asked.
func allSeen(object *unstructured.Unstructured) bool {
	found := rows.Conditions(object)
	if asked := object.GetAnnotations()[meta.ReconcileRequestAnnotation]; asked != "" && asked != Handled(object) {
		return false
	}
	previewed, _, _ := unstructured.NestedString(object.Object, "status", "preview", "request")
	if asked := object.GetAnnotations()[v1.PreviewRequestAnnotation]; asked != "" && asked != previewed {
		return false
	}
	ready := readyCondition(object)
	return len(found) > 0 && (ready == nil || ofGeneration(ready, object))
}

// Unheard is the ID of the run of a Stack that was in flight at the first look, and of which
// nothing was told up to the last one, while what is asked of the Stack was not seen
// either. Its record alone does not say that anybody is at work. It is empty where there
// is none.
func Unheard(first, last *unstructured.Unstructured) string {
	before, _, _ := unstructured.NestedMap(first.Object, "status", "run")
	now, _, _ := unstructured.NestedMap(last.Object, "status", "run")
	if len(now) == 0 || allSeen(last) || !equality.Semantic.DeepEqual(before, now) {
		return ""
	}
	return runID(last)
}

// ErrSuspended is Flux's word for an object that is not reconciled.
var ErrSuspended = errors.New("resource is suspended")

// After tells whether the reconcile is over that was asked for with the request. A failure
// is an error, and so is that somebody has suspended the object meanwhile.
func After(object *unstructured.Unstructured, request string) (bool, error) {
	if answered(object, request) {
		if over, err := settled(object); over || err != nil {
			return over, err
		}
	}
	if isLeft(object) {
		return false, ErrSuspended
	}
	return false, nil
}

// isLeft tells that nothing more is done with the object, as it is suspended.
func isLeft(object *unstructured.Unstructured) bool {
	return Suspended(object) && !inFlight(object) && object.GetDeletionTimestamp() == nil
}

// answered tells whether the request was acted on, or a later one that has taken its
// place: nobody answers what was overwritten.
func answered(object *unstructured.Unstructured, request string) bool {
	handled, last := Handled(object), object.GetAnnotations()[meta.ReconcileRequestAnnotation]
	return handled == request || last != "" && handled == last
}

// AtGeneration tells whether the object has been reconciled as its spec is now. A
// failure is an error, but that what it depends on is not ready: that may be made, or
// resumed, with it.
func AtGeneration(object *unstructured.Unstructured) (bool, error) {
	ready := readyCondition(object)
	if ready == nil || !ofGeneration(ready, object) {
		return false, nil
	}
	if ready.Status == metav1.ConditionFalse && ready.Reason == meta.DependencyNotReadyReason {
		return false, nil
	}
	return settled(object)
}

// settled is the verdict of kstatus, but that a failure which is tried again later is
// one too: nobody who waits for the answer wants to wait for the next try. What is being
// deleted is over when it is gone, or when that has failed: a destroy may be in flight.
func settled(object *unstructured.Unstructured) (bool, error) {
	result, err := status.Compute(object)
	if err != nil {
		return false, fmt.Errorf("reading the status of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	ready := readyCondition(object)
	switch {
	case result.Status == status.FailedStatus || result.Status == status.NotFoundStatus:
		return false, errors.New(result.Message)
	case inFlight(object) || ready == nil || ready.Status == metav1.ConditionUnknown:
		return false, nil
	case ready.Status == metav1.ConditionFalse && triedAgain(object):
		return false, errors.New(ready.Message)
	case pending(object):
		return false, nil
	default:
		return result.Status == status.CurrentStatus, nil
	}
}

// inFlight tells of a Stack that a run is in flight.
func inFlight(object *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedMap(object.Object, "status", "run")
	return found
}

// pending tells of a Stack that a run which was asked for is yet to begin. Where that has
// failed for now Ready says so; else it begins at once.
func pending(object *unstructured.Unstructured) bool {
	pending, _, _ := unstructured.NestedBool(object.Object, "status", "runPending")
	return pending
}

// triedAgain tells that the controller has done what it could do for now.
func triedAgain(object *unstructured.Unstructured) bool {
	reconciling := apimeta.FindStatusCondition(rows.Conditions(object), meta.ReconcilingCondition)
	return reconciling == nil || reconciling.Reason == meta.ProgressingWithRetryReason
}

// ofGeneration tells whether the condition is one of the object as it is now. Not all
// controllers say.
func ofGeneration(condition *metav1.Condition, object *unstructured.Unstructured) bool {
	return condition.ObservedGeneration == 0 || condition.ObservedGeneration == object.GetGeneration()
}

func readyCondition(object *unstructured.Unstructured) *metav1.Condition {
	return apimeta.FindStatusCondition(rows.Conditions(object), meta.ReadyCondition)
}
