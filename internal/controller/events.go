// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// EventRecorder is the part of fluxcd/pkg/runtime/events that is needed. It must not
// block.
type EventRecorder interface {
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any)
}

// announce emits an event and logs it. Call it after the status is written.
func (r *StackReconciler) announce(ctx context.Context, stack *v1.Stack, e stackstatus.Event) {
	metadata := r.emit(stack, e)
	log := ctrl.LoggerFrom(ctx).WithValues("reason", e.Reason, "revision", metadata[v1.GroupVersion.Group+"/"+eventv1.MetaRevisionKey])
	if e.Type == corev1.EventTypeWarning {
		log.Error(nil, e.Message)
		return
	}
	log.Info(e.Message)
}

// emit emits an event, and returns its metadata. Nothing else does.
func (r *StackReconciler) emit(stack *v1.Stack, e stackstatus.Event) map[string]string {
	metadata, eventType := stackstatus.Metadata(stack, e), stackstatus.TypeOf(stack, e)
	r.Events.AnnotatedEventf(stack, metadata, eventType, e.Reason, "%s", e.Message)
	return metadata
}

// emitReady emits the event for a commit status. What made the Stack Ready is in the log
// already, with the same revision.
func (r *StackReconciler) emitReady(before stackstatus.Readiness, stack *v1.Stack, revision, originRevision string) {
	if e, isNew := stackstatus.ReadyEvent(before, stack, revision, originRevision); isNew {
		r.emit(stack, e)
	}
}
