// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// PreviewRequested reports whether there is an unhandled request for a preview. One that
// waits for a slot is unhandled.
func PreviewRequested(stack *v1.Stack) bool {
	handled := ""
	if last := stack.Status.Preview; last != nil && !PreviewWaits(stack) {
		handled = last.Request
	}
	return IsOpenRequest(stack, v1.PreviewRequestAnnotation, handled)
}

// PreviewWaits reports whether the requested preview waits for a slot.
func PreviewWaits(stack *v1.Stack) bool {
	last := stack.Status.Preview
	return last != nil && last.Run == "" && last.EndedAt == nil
}

// RefusePreview records why a requested preview cannot be done.
func RefusePreview(stack *v1.Stack, request, why string, now time.Time) {
	stack.Status.Preview = &v1.PreviewStatus{Request: request, State: v1.UpdateFailed, Message: why, EndedAt: &metav1.Time{Time: now}}
}

// WithdrawPreview drops a preview that is queued and no longer requested.
func WithdrawPreview(stack *v1.Stack) { stack.Status.Preview = nil }

// PreviewAfter is what the status says of the last preview on request after a run.
func PreviewAfter(stack *v1.Stack, record *v1.RunStatus, result *run.Result) *v1.PreviewStatus {
	if !run.KindOfRecord(record).OnRequest {
		return stack.Status.Preview
	}
	ended := &v1.PreviewStatus{
		Request: record.PreviewRequest, Run: record.ID, Revision: record.Revision, State: v1.UpdateFailed,
		StartedAt: &metav1.Time{Time: result.StartedAt}, EndedAt: &metav1.Time{Time: result.EndedAt},
	}
	if result.Outcome != run.Succeeded {
		ended.Message = cmp.Or(result.Message, string(result.Outcome))
		return ended
	}
	ended.State, ended.ResourceChanges, ended.Message = v1.UpdateSucceeded, Changes(result.Changes), result.Message
	return ended
}

// failPreview records a preview whose end nobody saw. It has changed nothing.
func failPreview(stack *v1.Stack, message string, now time.Time) {
	if recorded := stack.Status.Preview; recorded != nil {
		recorded.State, recorded.Message, recorded.EndedAt = v1.UpdateFailed, message, &metav1.Time{Time: now}
	}
}
