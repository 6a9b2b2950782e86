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
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// EventRecorder is the part of fluxcd/pkg/runtime/events that is needed. It must not
// block.
type EventRecorder interface {
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, format string, args ...any)
}

// notice is an event for people, or for a git forge.
type notice struct {
	kind, reason, message string
	// revision and originRevision default to the last known ones.
	revision, originRevision string
	// permalink and changes are those of a run.
	permalink string
	changes   run.Changes
	// commitStatus is for git forges, and for Providers that pass on every event.
	commitStatus bool
}

// announce emits an event and logs it. It is the only place that does; call it after the
// status is written.
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

// readiness is whether a Stack is Ready, and at which revision: the applied one and the
// attempted one, which a preview does not apply.
type readiness struct {
	ready                              bool
	revision, originRevision, lookedAt string
}

func readinessOf(stack *v1.Stack) readiness {
	return readiness{conditions.IsReady(stack), stack.Status.LastAppliedRevision, stack.Status.LastAppliedOriginRevision, stack.Status.LastAttemptedRevision}
}

// announceReady emits a commit status when the Stack has just become Ready, or is Ready
// at another revision. A failure needs no such event: notification-controller sends every
// failure to forges as well, and a commit status to nobody else but generic Providers.
func (r *StackReconciler) announceReady(ctx context.Context, before readiness, stack *v1.Stack, revision, originRevision string) {
	if now := readinessOf(stack); !now.ready || now == before || !hasCommits(&stack.Spec) {
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

// hasCommits reports whether the revisions of the Stack can be commits, or come from some.
// notification-controller would report that it finds none in those of others.
func hasCommits(spec *v1.StackSpec) bool {
	return spec.ProgramRef == nil && (spec.FluxSource == nil || spec.FluxSource.SourceRef.Kind != sourcev1.BucketKind)
}

// runEvent describes how a run ended. A run without changes is a trace, which is a
// Kubernetes Event but goes to no Alert: a resync would otherwise alert at each interval.
func runEvent(record v1.RunStatus, result *run.Result) notice {
	kind := run.KindOfRecord(&record)
	e := notice{
		kind:           corev1.EventTypeNormal,
		reason:         result.Outcome.Reason(kind),
		revision:       record.Revision,
		originRevision: record.OriginRevision,
		permalink:      result.Permalink,
		changes:        result.Changes,
	}
	took := result.EndedAt.Sub(result.StartedAt).Round(100 * time.Millisecond)
	name := kind.Title
	if result.Outcome == run.Succeeded {
		switch {
		case !kind.RunsInputs:
			// Only the run that follows shows whether the revision is good.
			e.reason = meta.ProgressingReason
		case kind.Program == run.ProgramAlways && !isChanged(result.Changes):
			e.kind = eventv1.EventTypeTrace
		}
	}
	if result.Outcome == run.Succeeded && kind.Previews {
		e.message = fmt.Sprintf("%s, in %s", previewText(record.Revision, result.Changes), took) + warningsText(result)
		return e
	}
	if result.Outcome == run.Succeeded {
		e.message = fmt.Sprintf("%s succeeded: %s in %s", name, changesText(result.Changes), took)
		if result.LeftOut > 0 {
			e.message += fmt.Sprintf("; %d outputs are too big, or too many, for the status", result.LeftOut)
		}
		if result.OutputsMissed {
			e.message += "; its outputs are not known, as some of Pulumi's events could not be read"
		}
		e.message += warningsText(result)
		return e
	}
	if result.Outcome == run.Cancelled {
		// It did not fail, and runs again. The reason keeps the shutdown of the
		// controller from raising alerts and from reaching git forges, which ignore it.
		e.reason = meta.ProgressingReason
		e.message = fmt.Sprintf("%s was stopped after %s: %s", name, took, result.Message)
		return e
	}
	if result.Outcome == run.ArtifactGone {
		// Nothing was tried of this revision: no alert, and no failure at the forge.
		e.kind = eventv1.EventTypeTrace
		e.message = fmt.Sprintf("%s was not begun: %s", name, result.Message)
		return e
	}
	// The duration is left out: it would make each retry of the same failure a new
	// message.
	e.kind = corev1.EventTypeWarning
	e.message = fmt.Sprintf("%s failed: %s", name, result.Message)
	return e
}

func warningsText(result *run.Result) string {
	if len(result.Warnings) == 0 {
		return ""
	}
	return ". Warning: " + strings.Join(result.Warnings, "; ")
}

// counted is a number of resources and what happened to them.
type counted struct {
	count int
	what  string
}

// unknownChanges is the text for changes that were not counted.
const unknownChanges = "an unknown number of changes (some of Pulumi's events could not be read)"

// changesText lists changes, such as "2 created, 3 unchanged".
func changesText(c run.Changes) string {
	if c.Unknown {
		return unknownChanges
	}
	return list(changesCounted(c))
}

func changesCounted(c run.Changes) []counted {
	return []counted{
		{c.Created, "created"}, {c.Updated, "updated"}, {c.Replaced, "replaced"}, {c.Deleted, "deleted"},
		{c.Retained, "left in place (retainOnDelete)"}, {c.Same, "unchanged"},
	}
}

// The parts of previewText before the revision and before the counts.
const (
	previewedText = "Previewed revision "
	previewCounts = ": "
)

// previewText lists what an update would do, such as "2 to create, 3 unchanged".
func previewText(revision string, c run.Changes) string {
	return previewedText + revision + previewCounts + list(previewCounted(c))
}

// previewedAt rewrites the text of a preview for another revision with the same content.
func previewedAt(revision, found string) string {
	at := strings.LastIndex(found, previewCounts)
	if at < 0 {
		return found
	}
	return previewedText + revision + found[at:]
}

func previewCounted(c run.Changes) []counted {
	return []counted{
		{c.Created, "to create"}, {c.Updated, "to update"}, {c.Replaced, "to replace"}, {c.Deleted, "to delete"},
		{c.Retained, "to leave in place (retainOnDelete)"}, {c.Same, "unchanged"},
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
