// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package ready tells from an object alone whether a request is done: values in, a
// verdict out. It must need no client and no clock.
package ready

import (
	"errors"
	"fmt"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
)

// Handled returns the reconcile request that the object last acted on.
func Handled(object *unstructured.Unstructured) string {
	handled, _, _ := unstructured.NestedString(object.Object, "status", "lastHandledReconcileAt")
	return handled
}

// Suspended reports whether spec.suspend is set.
func Suspended(object *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend")
	return suspended
}

// Message returns the message of the Ready condition, or that of kstatus for kinds with
// other conditions, such as a Deployment.
func Message(object *unstructured.Unstructured) string {
	if ready := readyCondition(object); ready != nil {
		return ready.Message
	}
	if result, err := status.Compute(object); err == nil && len(rows.Conditions(object)) > 0 && result.Message != "" {
		return result.Message
	}
	return "waiting to be reconciled"
}

// TakenUp reports whether a controller has noticed the request or the spec, as far as the
// object shows that.
func TakenUp(object *unstructured.Unstructured) bool {
	// A failure with a retry looks the same without a controller.
	return inFlight(object) || !triedAgain(object) || allSeen(object)
}

// allSeen reports whether the status shows that a controller has noticed the request, and
// the spec.
func allSeen(object *unstructured.Unstructured) bool {
	found := rows.Conditions(object)
	if asked := object.GetAnnotations()[meta.ReconcileRequestAnnotation]; asked != "" && asked != Handled(object) {
		return false
	}
	previewed, _, _ := unstructured.NestedString(object.Object, "status", "preview", "request")
	if asked := object.GetAnnotations()[v1.PreviewRequestAnnotation]; asked != "" && asked != previewed {
		return false
	}
	checked, _, _ := unstructured.NestedString(object.Object, "status", "drift", "lastHandledCheck")
	running, _, _ := unstructured.NestedString(object.Object, "status", "run", "checkRequest")
	if asked := object.GetAnnotations()[v1.CheckDriftAnnotation]; asked != "" && asked != checked && asked != running {
		return false
	}
	if isCancelUnseen(object) {
		return false
	}
	ready := readyCondition(object)
	return len(found) > 0 && (ready == nil || ofGeneration(ready, object))
}

// progressPatience is how long a record may stay as it is while its controller is at
// work: the controller writes the progress of a run once a minute.
const progressPatience = 2 * time.Minute

// Unheard returns the ID of a Stack's run in flight whose record did not change from the
// first look to the last, while the controller has not noticed the current request or
// spec either: the record alone does not prove that anybody is at work. It is empty if
// there is none, or if a controller at work could have left the record alone for as long
// as it was watched. A request to cancel the run is noted at once.
func Unheard(first, last *unstructured.Unstructured, watched time.Duration) string {
	before, _, _ := unstructured.NestedMap(first.Object, "status", "run")
	now, _, _ := unstructured.NestedMap(last.Object, "status", "run")
	switch {
	case len(now) == 0 || allSeen(last) || !equality.Semantic.DeepEqual(before, now):
		return ""
	case !isCancelUnseen(last) && (watched < progressPatience || hasNoProgress(now)):
		return ""
	}
	return runID(last)
}

// hasNoProgress reports whether the progress of the run is not written to its record: it
// is a preview on request, or is being cancelled.
func hasNoProgress(record map[string]any) bool {
	return record["previewRequest"] != nil || record["cancel"] != nil
}

// isCancelUnseen reports whether someone asks to cancel the run in flight, and its record
// does not say so yet.
func isCancelUnseen(object *unstructured.Unstructured) bool {
	id, asked := runID(object), object.GetAnnotations()
	if id == "" || asked[v1.CancelRunAnnotation] != id && asked[v1.CancelRunNowAnnotation] != id {
		return false
	}
	mode, _, _ := unstructured.NestedString(object.Object, "status", "run", "cancel")
	return mode == "" || asked[v1.CancelRunNowAnnotation] == id && mode != string(v1.CancelNow)
}

// ErrSuspended is Flux's word for an object that is not reconciled.
var ErrSuspended = errors.New("resource is suspended")

// After reports whether the requested reconcile is over. It returns an error if that
// failed, or if someone has suspended the object in the meantime.
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

// isLeft reports whether the object is suspended and nothing is in flight.
func isLeft(object *unstructured.Unstructured) bool {
	return Suspended(object) && !inFlight(object) && object.GetDeletionTimestamp() == nil
}

// answered reports whether this request, or a later one that has replaced it, was acted
// on: nobody answers an overwritten request.
func answered(object *unstructured.Unstructured, request string) bool {
	handled, last := Handled(object), object.GetAnnotations()[meta.ReconcileRequestAnnotation]
	return handled == request || last != "" && handled == last
}

// AtGeneration reports whether the current spec of the object has been reconciled. It
// returns an error if that failed. Dependencies that are not ready are no failure: they
// may be created, or resumed, together with it.
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

// settled is the verdict of kstatus, except that a failure with a later retry is final:
// nobody wants to wait for the retry. A deletion is over once the object is gone, or has
// failed with nothing in flight: a destroy takes a while.
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

// inFlight reports whether the object is a Stack with a run in flight.
func inFlight(object *unstructured.Unstructured) bool {
	_, found, _ := unstructured.NestedMap(object.Object, "status", "run")
	return found
}

// pending reports whether the object is a Stack whose requested run is yet to start. If
// that failed for now, Ready says so; otherwise it starts at once.
func pending(object *unstructured.Unstructured) bool {
	pending, _, _ := unstructured.NestedBool(object.Object, "status", "runPending")
	return pending
}

// triedAgain reports whether the controller has done all it could for now.
func triedAgain(object *unstructured.Unstructured) bool {
	reconciling := apimeta.FindStatusCondition(rows.Conditions(object), meta.ReconcilingCondition)
	return reconciling == nil || reconciling.Reason == meta.ProgressingWithRetryReason
}

// ofGeneration reports whether the condition is of the current generation. Some
// controllers do not set the generation.
func ofGeneration(condition *metav1.Condition, object *unstructured.Unstructured) bool {
	return condition.ObservedGeneration == 0 || condition.ObservedGeneration == object.GetGeneration()
}

func readyCondition(object *unstructured.Unstructured) *metav1.Condition {
	return apimeta.FindStatusCondition(rows.Conditions(object), meta.ReadyCondition)
}
