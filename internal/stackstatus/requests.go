// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// A request is an annotation with a value that has not been handled yet. Flux has one for
// a run, and another that together with it forces the run; the Pulumi operator has its
// own for a run.

// Requested reports whether there is an unhandled request for a run.
func Requested(stack *v1.Stack) bool {
	return IsOpenRequest(stack, meta.ReconcileRequestAnnotation, stack.Status.LastHandledReconcileAt) ||
		IsOpenRequest(stack, v1.ReconcileRequestAnnotation, stack.Status.ObservedReconcileRequest)
}

// ForceRequested reports whether the requested run has to be forced. As in Flux, that takes both
// annotations with the same value, and each value counts once.
func ForceRequested(stack *v1.Stack) bool {
	return IsOpenRequest(stack, meta.ReconcileRequestAnnotation, stack.Status.LastHandledReconcileAt) &&
		IsOpenRequest(stack, meta.ForceRequestAnnotation, stack.Status.LastHandledForceAt) &&
		stack.Annotations[meta.ForceRequestAnnotation] == stack.Annotations[meta.ReconcileRequestAnnotation]
}

// markHandled records the requests as handled.
func markHandled(stack *v1.Stack) {
	record(stack, meta.ReconcileRequestAnnotation, &stack.Status.LastHandledReconcileAt)
	record(stack, meta.ForceRequestAnnotation, &stack.Status.LastHandledForceAt)
	record(stack, v1.ReconcileRequestAnnotation, &stack.Status.ObservedReconcileRequest)
}

// AcknowledgeRequests records the requests as handled, and the run that is still to be done for them.
// Clients wait for the former; the latter keeps a run that cannot start now, or that
// fails, from being lost.
func AcknowledgeRequests(stack *v1.Stack) {
	if Requested(stack) {
		stack.Status.RunPending = true
		stack.Status.CancelledRun = nil // whoever asks wants it to run
	}
	if ForceRequested(stack) {
		stack.Status.RefreshPending = true
	}
	markHandled(stack)
}

// IsOpenRequest reports whether the annotation has a value other than the handled one.
func IsOpenRequest(stack *v1.Stack, annotation, handled string) bool {
	value, ok := stack.Annotations[annotation]
	return ok && RequestToken(value) != handled
}

func record(stack *v1.Stack, annotation string, handled *string) {
	if value, ok := stack.Annotations[annotation]; ok {
		*handled = RequestToken(value)
	}
}

// maxToken bounds the value of a request in the status. Clients that wait for a request
// compare it with the value they sent, which is just a time.
const maxToken = 256

// RequestToken shortens the value of a request for the status, which has it several times: an
// annotation may have 256 KiB.
func RequestToken(value string) string {
	if len(value) <= maxToken {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return "sha256:" + hex.EncodeToString(sum[:])
}
