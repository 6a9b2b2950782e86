// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
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

// announce emits an event and logs it. It is the only place that does; call it after the
// status is written.
func (r *StackReconciler) announce(ctx context.Context, stack *v1.Stack, e stackstatus.Event) {
	metadata := stackstatus.Metadata(stack, e)
	r.Events.AnnotatedEventf(stack, metadata, e.Type, e.Reason, "%s", e.Message)
	log := ctrl.LoggerFrom(ctx).WithValues("reason", e.Reason, "revision", metadata[v1.GroupVersion.Group+"/"+eventv1.MetaRevisionKey])
	if e.Type == corev1.EventTypeWarning {
		log.Error(nil, e.Message)
		return
	}
	log.Info(e.Message)
}

// announceReady emits a commit status when the Stack has just become Ready, or is Ready
// at another revision. A failure needs no such event: notification-controller sends every
// failure to forges as well, and a commit status to nobody else but generic Providers.
func (r *StackReconciler) announceReady(ctx context.Context, before stackstatus.Readiness, stack *v1.Stack, revision, originRevision string) {
	if now := stackstatus.ReadinessOf(stack); !now.Ready || now == before || !stackstatus.HasCommits(&stack.Spec) {
		return
	}
	r.announce(ctx, stack, stackstatus.Event{
		Type:           corev1.EventTypeNormal,
		Reason:         conditions.GetReason(stack, meta.ReadyCondition),
		Message:        conditions.GetMessage(stack, meta.ReadyCondition),
		Revision:       revision,
		OriginRevision: originRevision,
		CommitStatus:   true,
	})
}
