// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// A request is an annotation with a value that has not been handled yet. Flux
// has one for a run, and one that together with it forces the run; the Pulumi
// operator has one of its own for a run.

// requested tells whether somebody asks for a run that has not been answered.
func requested(stack *v1.Stack) bool {
	return open(stack, meta.ReconcileRequestAnnotation, stack.Status.LastHandledReconcileAt) ||
		open(stack, v1.ReconcileRequestAnnotation, stack.Status.ObservedReconcileRequest)
}

// forced tells whether the run that is asked for is to be forced. As in Flux,
// that takes both annotations with the same value, and each value counts once.
func forced(stack *v1.Stack) bool {
	return open(stack, meta.ReconcileRequestAnnotation, stack.Status.LastHandledReconcileAt) &&
		open(stack, meta.ForceRequestAnnotation, stack.Status.LastHandledForceAt) &&
		stack.Annotations[meta.ForceRequestAnnotation] == stack.Annotations[meta.ReconcileRequestAnnotation]
}

// markHandled notes the requests that are being answered.
func markHandled(stack *v1.Stack) {
	note(stack, meta.ReconcileRequestAnnotation, &stack.Status.LastHandledReconcileAt)
	note(stack, meta.ForceRequestAnnotation, &stack.Status.LastHandledForceAt)
	note(stack, v1.ReconcileRequestAnnotation, &stack.Status.ObservedReconcileRequest)
}

// takeOn notes the requests as handled, and what is still to be done for them.
// That they are handled is what people wait for; a run that cannot begin now, or
// does not come to a good end, is not to be lost with that.
func takeOn(stack *v1.Stack) {
	if requested(stack) {
		stack.Status.RunPending = true
		stack.Status.CancelledRun = nil // whoever asks wants it run
	}
	if forced(stack) {
		stack.Status.RefreshPending = true
	}
	markHandled(stack)
}

// open tells whether the annotation has a value other than the handled one.
func open(stack *v1.Stack, annotation, handled string) bool {
	value, ok := stack.Annotations[annotation]
	return ok && token(value) != handled
}

func note(stack *v1.Stack, annotation string, handled *string) {
	if value, ok := stack.Annotations[annotation]; ok {
		*handled = token(value)
	}
}

// maxToken bounds what the status keeps of a request. Who waits for a request to
// be handled compares with the value that was sent, which is a time and no more.
const maxToken = 256

// token stands for the value of a request in the status. A value may have 256 KiB,
// and the status has it several times.
func token(value string) string {
	if len(value) <= maxToken {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return "sha256:" + hex.EncodeToString(sum[:])
}
