// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
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
	if record.Operation != v1.OperationPreview || !HasChangeRequest(stack) || !hasCommits(&stack.Spec) {
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
	if !HasChangeRequest(stack) || result.Outcome != run.Succeeded {
		return e
	}
	if !isSamePreview(before, record, result) {
		e.Type = corev1.EventTypeNormal
	}
	return e
}

// isSamePreview reports whether the run before was a preview of the same revision with the same result.
func isSamePreview(before *v1.Stack, record v1.RunStatus, result *run.Result) bool {
	last := before.Status.History.Latest()
	if last == nil || last.LastReconciledStatus != meta.ReconciliationSucceededReason || last.Metadata["revision"] != record.Revision {
		return false
	}
	if result.Plan == nil {
		return last.Metadata["changes"] == historyMetadata(&record, result)["changes"]
	}
	return before.Status.Plan != nil && before.Status.Plan.Digest == result.Plan.Digest()
}
