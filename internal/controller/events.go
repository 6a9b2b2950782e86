// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// EventRecorder is what is needed of fluxcd/pkg/runtime/events.
type EventRecorder interface {
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any)
}

// notice is something a person wants to know.
type notice struct {
	kind, reason, message    string
	revision, originRevision string
}

// announce sends an event. It is the one place that does.
func (r *StackReconciler) announce(stack *v1.Stack, e notice) {
	metadata := map[string]string{}
	if e.revision != "" {
		metadata[v1.GroupVersion.Group+"/revision"] = e.revision
	}
	if e.originRevision != "" {
		metadata[v1.GroupVersion.Group+"/originRevision"] = e.originRevision
	}
	r.Events.AnnotatedEventf(stack, metadata, e.kind, e.reason, "%s", e.message)
}

// runEvent tells how a run ended.
func runEvent(record v1.RunStatus, result *run.Result) notice {
	e := notice{
		kind:           corev1.EventTypeNormal,
		reason:         outcomeReason(record.Operation, result.Outcome),
		revision:       record.Revision,
		originRevision: record.OriginRevision,
	}
	took := result.EndedAt.Sub(result.StartedAt).Round(100 * time.Millisecond)
	name := operationName(record.Operation)
	if result.Outcome == run.Succeeded && record.Operation == v1.OperationPreview {
		e.message = fmt.Sprintf("%s, in %s", previewText(record.Revision, result.Changes), took)
		return e
	}
	if result.Outcome == run.Succeeded {
		e.message = fmt.Sprintf("%s succeeded: %s in %s", name, changesText(result.Changes), took)
		if result.LeftOut > 0 {
			e.message += fmt.Sprintf("; %d outputs are too big, or too many, for the status", result.LeftOut)
		}
		return e
	}
	e.kind = corev1.EventTypeWarning
	e.message = fmt.Sprintf("%s failed after %s: %s", name, took, result.Message)
	return e
}

func operationName(operation v1.Operation) string {
	switch operation {
	case v1.OperationDestroy:
		return "Destroy"
	case v1.OperationRecover:
		return "Recovery"
	case v1.OperationPreview:
		return "Preview"
	}
	return "Update"
}

// counted is a number of resources and what happened to them.
type counted struct {
	count int
	what  string
}

// changesText tells the changes as a person would: 2 created, 3 unchanged.
func changesText(c run.Changes) string {
	return list([]counted{
		{c.Created, "created"}, {c.Updated, "updated"}, {c.Replaced, "replaced"}, {c.Deleted, "deleted"}, {c.Same, "unchanged"},
	})
}

// previewText tells what an update would do: 2 to create, 3 unchanged.
func previewText(revision string, c run.Changes) string {
	return fmt.Sprintf("Previewed revision %s: %s", revision, list([]counted{
		{c.Created, "to create"}, {c.Updated, "to update"}, {c.Replaced, "to replace"}, {c.Deleted, "to delete"}, {c.Same, "unchanged"},
	}))
}

func list(all []counted) string {
	var parts []string
	for _, part := range all {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	if len(parts) == 0 {
		return "no resources"
	}
	return strings.Join(parts, ", ")
}
