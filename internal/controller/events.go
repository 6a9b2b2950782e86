// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// EventRecorder is what is needed of fluxcd/pkg/runtime/events. It must not
// block.
type EventRecorder interface {
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any)
}

// notice is something a person, or a git forge, wants to know.
type notice struct {
	kind, reason, message string
	// revision that it is about, and the origin of that. Where they are empty it is
	// the last one that is known.
	revision, originRevision string
	// permalink and changes of a run.
	permalink string
	changes   run.Changes
	// commitStatus has git forges told, and nobody else.
	commitStatus bool
}

// announce sends an event, when what it tells of is written, and has it in the log.
// It is the one place that does.
func (r *StackReconciler) announce(ctx context.Context, stack *v1.Stack, e notice) {
	metadata := eventMetadata(stack, e)
	r.Events.AnnotatedEventf(stack, metadata, e.kind, e.reason, "%s", e.message)
	log := ctrl.LoggerFrom(ctx).WithValues("reason", e.reason, "revision", metadata[v1.GroupVersion.Group+"/"+eventv1.MetaRevisionKey])
	if e.kind == corev1.EventTypeWarning {
		log.Error(nil, e.message)
		return
	}
	log.Info(e.message)
}

// readiness is whether a Stack is Ready, and at which revision: the one that is
// applied, and the one that was looked at, which a preview does not apply.
type readiness struct {
	ready                              bool
	revision, originRevision, lookedAt string
}

func readinessOf(stack *v1.Stack) readiness {
	return readiness{conditions.IsReady(stack), stack.Status.LastAppliedRevision, stack.Status.LastAppliedOriginRevision, stack.Status.LastAttemptedRevision}
}

// announceReady tells git forges that the revision is what it should be, when the
// Stack has just become Ready, or is so at another revision. A failure needs no
// such event: notification-controller hands every failure to forges too, and an
// event that is marked as a commit status to nobody else.
func (r *StackReconciler) announceReady(ctx context.Context, before readiness, stack *v1.Stack, revision, originRevision string) {
	if now := readinessOf(stack); !now.ready || now == before {
		return
	}
	r.announce(ctx, stack, notice{
		kind:           corev1.EventTypeNormal,
		reason:         conditions.GetReason(stack, meta.ReadyCondition),
		message:        conditions.GetMessage(stack, meta.ReadyCondition),
		revision:       revision,
		originRevision: originRevision,
		commitStatus:   true,
	})
}

// runEvent tells how a run ended. That nothing had to be changed is no news, and
// with a resync would be none at each interval: a trace is a Kubernetes Event and
// goes to no Alert.
func runEvent(record v1.RunStatus, result *run.Result) notice {
	e := notice{
		kind:           corev1.EventTypeNormal,
		reason:         outcomeReason(record.Operation, result.Outcome),
		revision:       record.Revision,
		originRevision: record.OriginRevision,
		permalink:      result.Permalink,
		changes:        result.Changes,
	}
	took := result.EndedAt.Sub(result.StartedAt).Round(100 * time.Millisecond)
	name := operationName(record.Operation)
	if result.Outcome == run.Succeeded {
		switch record.Operation {
		case v1.OperationRecover:
			// The inputs are run next: only that says whether the revision is good.
			e.reason = meta.ProgressingReason
		case v1.OperationUpdate, v1.OperationPreview:
			if !isChanged(result.Changes) {
				e.kind = eventv1.EventTypeTrace
			}
		}
	}
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
	if result.Outcome == run.Cancelled {
		// It did not fail, and is run again. Nobody is alerted for the controller's own
		// end, and no forge is told anything: they pass over this reason.
		e.reason = meta.ProgressingReason
		e.message = fmt.Sprintf("%s was stopped after %s: %s", name, took, result.Message)
		return e
	}
	// Without how long it took, by which the same failure would be told in other
	// words with each retry.
	e.kind = corev1.EventTypeWarning
	e.message = fmt.Sprintf("%s failed: %s", name, result.Message)
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
	return list(changesCounted(c))
}

func changesCounted(c run.Changes) []counted {
	return []counted{
		{c.Created, "created"}, {c.Updated, "updated"}, {c.Replaced, "replaced"}, {c.Deleted, "deleted"}, {c.Same, "unchanged"},
	}
}

// The parts of previewText before the revision and before the counts.
const (
	previewedText = "Previewed revision "
	previewCounts = ": "
)

// previewText tells what an update would do: 2 to create, 3 unchanged.
func previewText(revision string, c run.Changes) string {
	return previewedText + revision + previewCounts + list(previewCounted(c))
}

// previewedAt is what a preview has found, told of another revision with the same
// content.
func previewedAt(revision, found string) string {
	at := strings.LastIndex(found, previewCounts)
	if at < 0 {
		return found
	}
	return previewedText + revision + found[at:]
}

func previewCounted(c run.Changes) []counted {
	return []counted{
		{c.Created, "to create"}, {c.Updated, "to update"}, {c.Replaced, "to replace"}, {c.Deleted, "to delete"}, {c.Same, "unchanged"},
	}
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
