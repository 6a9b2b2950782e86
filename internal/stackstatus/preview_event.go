// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"strings"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// HasChangeRequest reports whether events of the Stack are for a pull request as well.
func HasChangeRequest(stack *v1.Stack) bool {
	return stack.Annotations[eventv1.Group+"/"+eventv1.MetaChangeRequestKey] != ""
}

// PreviewStarted returns the event for a commit status of a preview that has just been recorded.
// Only Gitea's provider makes a pending status of it; others ignore the reason.
//
// There is none for a preview of the revision that the last run was of: until it ends, the
// commit keeps its status, also of a failure, which is not reported again if it repeats.
func PreviewStarted(stack *v1.Stack, record v1.RunStatus) (Event, bool) {
	kind := run.KindOfRecord(&record)
	if !kind.Previews || !kind.Reconciles || kind.Proposes || !HasChangeRequest(stack) || !hasCommits(&stack.Spec) {
		return Event{}, false
	}
	if last := stack.Status.History.Latest(); last != nil && last.Metadata["revision"] == record.Revision {
		return Event{}, false
	}
	return Event{
		Type: corev1.EventTypeNormal, Reason: meta.ProgressingReason, Message: "Previewing revision " + record.Revision,
		Revision: record.Revision, OriginRevision: record.OriginRevision, CommitStatus: true,
	}, true
}

// PreviewEvent describes how a run of a Stack with spec.preview ended. For a pull request it
// is announced whether something would change or not, so that the comment never shows what
// an earlier push would have changed: only the same result for the same revision is a trace.
// The result is absorbed in the Stack, and not yet in before.
func PreviewEvent(before, stack *v1.Stack, record v1.RunStatus, result *run.Result) Event {
	e := EndEvent(stack, record, result)
	e.Repeats = repeatsFailure(before, stack, record)
	if !HasChangeRequest(stack) || result.Outcome != run.Succeeded || e.Type == corev1.EventTypeWarning {
		return e
	}
	e.Type = eventv1.EventTypeTrace
	if !isSamePreview(before, record, result) {
		e.Type, e.Comment = corev1.EventTypeNormal, previewComment(stack, record, result)
	}
	return e
}

// repeatsFailure reports whether the last preview has failed, and nothing but the same failure of the same revision was
// announced since the last one that succeeded.
func repeatsFailure(before, stack *v1.Stack, record v1.RunStatus) bool {
	last, was, is := before.Status.History.Latest(), LastRun(before), LastRun(stack)
	switch {
	case IsCommentReplaced(before) || is == nil || is.State != v1.UpdateFailed:
		return false
	case last == nil || last.LastReconciledStatus == meta.ReconciliationSucceededReason:
		return true // it is the first
	}
	return last.Metadata["revision"] == record.Revision && was != nil && was.Reason == is.Reason && was.Message == is.Message
}

// previewComment is the comment on a preview. A pod of an earlier version may report no plan.
func previewComment(stack *v1.Stack, record v1.RunStatus, result *run.Result) string {
	if result.Plan == nil {
		return quotedComment(Event{Message: previewText(record.Revision, result.Changes) + warningsText(result)})
	}
	comment := plan.Comment{
		Plan: *result.Plan, Revision: record.Revision, Namespace: stack.Namespace, Incomparable: record.Incomparable, Warnings: result.Warnings,
		Preview: stack.Name, PreviewNamespace: stack.Namespace,
	}
	if of := stack.Spec.PreviewOf; of != nil {
		comment.Stack, comment.Namespace = of.Name, cmp.Or(of.Namespace, stack.Namespace)
	}
	return comment.Markdown()
}

// maxQuoted bounds the message in a comment, in bytes.
const maxQuoted = 4000

// commentOf is what the pull request shows of the event, "" if the Stack is for none.
func commentOf(stack *v1.Stack, e Event) string {
	if !HasChangeRequest(stack) || e.CommitStatus {
		return ""
	}
	return cmp.Or(e.Comment, quotedComment(e))
}

// quotedComment is the comment on an event without one. Its message may be an error of the program,
// which must neither mention people nor make links.
func quotedComment(e Event) string {
	const separator = "\n\n"
	return strings.TrimSpace(plan.Quoted(e.Message, maxQuoted-len(separator)) + separator + e.Diff)
}

// TypeOf is the type of an event of the Stack. A pull request has one comment, which the next event
// replaces: beside the end of a preview, only what keeps the Stack from one is worth that. What
// happens beside is not: nothing would restore the comment, or the status of the commit, which any
// warning sets to failed.
func TypeOf(stack *v1.Stack, e Event) string {
	isComment := stack.Spec.Preview && HasChangeRequest(stack) && !e.CommitStatus
	if isComment && (e.Beside || e.Type == corev1.EventTypeNormal && e.Comment == "") {
		return eventv1.EventTypeTrace
	}
	return e.Type
}

// isSamePreview reports whether the comment shows the run before, which was a preview of the same revision with
// the same result, and with the same reason if its plan cannot be approved.
func isSamePreview(before *v1.Stack, record v1.RunStatus, result *run.Result) bool {
	last := before.Status.History.Latest()
	if IsCommentReplaced(before) || last == nil || last.LastReconciledStatus != meta.ReconciliationSucceededReason || last.Metadata["revision"] != record.Revision {
		return false
	}
	if result.Plan == nil {
		return last.Metadata["changes"] == historyMetadata(&record, result)["changes"]
	}
	was := before.Status.Plan
	return was != nil && was.Digest == result.Plan.Digest() && was.Message == whyIncomparable(record, result)
}
