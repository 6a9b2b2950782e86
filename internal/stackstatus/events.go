// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strings"
	"time"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// EndEvent describes how a run ended.
func EndEvent(stack *v1.Stack, record v1.RunStatus, result *run.Result) Event {
	if IsProposal(&record, result) {
		return proposalEvent(stack, record, result)
	}
	last := stack.Status.CancelledRun
	if last == nil || last.ID != record.ID {
		e := runEvent(record, result)
		if p := stack.Status.Plan; p != nil && p.Digest == record.Approved {
			e.Plan = p.Digest
			if result.Outcome == run.Succeeded {
				e.Message += approvedText(p)
			}
		}
		return e
	}
	// A warning, to git forges as well: the revision is not applied.
	took := result.EndedAt.Sub(result.StartedAt).Round(100 * time.Millisecond)
	return Event{
		Type: corev1.EventTypeWarning, Reason: v1.CancelRequestedReason, Message: fmt.Sprintf("%s (after %s)", last.Message, took),
		Revision: record.Revision, OriginRevision: record.OriginRevision, Permalink: result.Permalink, Changes: result.Changes,
	}
}

// ReadyEvent returns the event for a commit status when the Stack has just become Ready, or is
// Ready at another revision. A failure needs no such event: notification-controller sends every
// failure to forges as well, and a commit status to nobody else but generic Providers.
func ReadyEvent(before Readiness, stack *v1.Stack, revision, originRevision string) (Event, bool) {
	if now := ReadinessOf(stack); !now.Ready || now == before || !hasCommits(&stack.Spec) {
		return Event{}, false
	}
	ready := apimeta.FindStatusCondition(stack.Status.Conditions, meta.ReadyCondition)
	return Event{
		Type: corev1.EventTypeNormal, Reason: ready.Reason, Message: ready.Message,
		Revision: revision, OriginRevision: originRevision, CommitStatus: true,
	}, true
}

// Event is an event for people, or for a git forge.
type Event struct {
	Type, Reason, Message string
	// revision and originRevision default to the last known ones.
	Revision, OriginRevision string
	// permalink and changes are those of a run.
	Permalink string
	Changes   run.Changes
	// Plan is the digest of the plan that is proposed, or was applied. Diff is the beginning of
	// the one that waits for an approval, in Markdown.
	Plan, Diff string
	// Comment is what a pull request shows in place of the message, in Markdown.
	Comment string
	// commitStatus is for git forges, and for Providers that pass on every event.
	CommitStatus bool
	// Beside reports whether the event is of what happens beside the runs that reconcile the Stack,
	// such as a check in the background.
	Beside bool
	// Repeats reports whether the failure of a preview may be that of an earlier event, with no other
	// failure in between.
	Repeats bool
}

// Readiness is whether a Stack is Ready, and at which revision: the applied one and the
// attempted one, which a preview does not apply.
type Readiness struct {
	Ready                              bool
	revision, originRevision, lookedAt string
}

func ReadinessOf(stack *v1.Stack) Readiness {
	return Readiness{apimeta.IsStatusConditionTrue(stack.Status.Conditions, meta.ReadyCondition), stack.Status.LastAppliedRevision, stack.Status.LastAppliedOriginRevision, stack.Status.LastAttemptedRevision}
}

// hasCommits reports whether the revisions of the Stack can be commits, or come from some.
// notification-controller would report that it finds none in those of others.
func hasCommits(spec *v1.StackSpec) bool {
	return spec.ProgramRef == nil && (spec.FluxSource == nil || spec.FluxSource.SourceRef.Kind != "Bucket")
}

// runEvent describes how a run ended. A run without changes is a trace, which is a
// Kubernetes Event but goes to no Alert: a resync would otherwise alert at each interval.
func runEvent(record v1.RunStatus, result *run.Result) Event {
	kind := run.KindOfRecord(&record)
	e := Event{
		Type:           corev1.EventTypeNormal,
		Reason:         result.Outcome.Reason(kind),
		Revision:       record.Revision,
		OriginRevision: record.OriginRevision,
		Permalink:      result.Permalink,
		Changes:        result.Changes,
	}
	took := result.EndedAt.Sub(result.StartedAt).Round(100 * time.Millisecond)
	name := kind.Title
	if result.Outcome == run.Succeeded {
		switch {
		case !kind.RunsInputs:
			// Only the run that follows shows whether the revision is good.
			e.Reason = meta.ProgressingReason
		case kind.Program == run.ProgramAlways && !isChanged(result.Changes):
			e.Type = eventv1.EventTypeTrace
		}
	}
	if result.Outcome == run.Succeeded && kind.Previews {
		e.Message = fmt.Sprintf("%s, in %s", previewText(record.Revision, result.Changes), took) + warningsText(result)
		return e
	}
	if result.Outcome == run.Succeeded {
		e.Message = fmt.Sprintf("%s succeeded: %s in %s", name, changesText(result.Changes), took)
		if result.LeftOut > 0 {
			e.Message += "; " + plural.Of(result.LeftOut, "output", "outputs") + " omitted from the status: too large or too many"
		}
		if result.OutputsMissed {
			e.Message += "; its outputs are unknown, because some of Pulumi's events could not be read"
		}
		e.Message += warningsText(result)
		return e
	}
	if result.Outcome == run.Cancelled {
		// It did not fail, and runs again. The reason keeps the shutdown of the
		// controller from raising alerts and from reaching git forges, which ignore it.
		e.Reason = meta.ProgressingReason
		e.Message = fmt.Sprintf("%s was stopped after %s: %s", name, took, result.Message)
		return e
	}
	if result.Outcome == run.ArtifactGone {
		// Nothing was tried of this revision: no alert, and no failure at the forge.
		e.Type = eventv1.EventTypeTrace
		e.Message = fmt.Sprintf("%s was not started: %s", name, result.Message)
		return e
	}
	// The duration is left out: it would make each retry of the same failure a new
	// message.
	e.Type = corev1.EventTypeWarning
	e.Message = fmt.Sprintf("%s failed: %s", name, result.Message)
	return e
}

func warningsText(result *run.Result) string {
	if len(result.Warnings) == 0 {
		return ""
	}
	return ". Warning: " + strings.Join(result.Warnings, "; ")
}
