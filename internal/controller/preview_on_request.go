// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A preview on request is a run like any other, one at a time and in its Stack's turn,
// but not a reconcile: only status.preview reports it.

// previewRequested reports whether there is an unhandled request for a preview. One that
// waits for a slot is unhandled.
func previewRequested(stack *v1.Stack) bool {
	handled := ""
	if last := stack.Status.Preview; last != nil && !previewWaits(stack) {
		handled = last.Request
	}
	return open(stack, v1.PreviewRequestAnnotation, handled)
}

// previewWaits reports whether the requested preview waits for a slot.
func previewWaits(stack *v1.Stack) bool {
	last := stack.Status.Preview
	return last != nil && last.Run == "" && last.EndedAt == nil
}

// previewOnRequest starts the preview, or says why it cannot.
func (r *StackReconciler) previewOnRequest(ctx context.Context, stack *v1.Stack, seen *observed) error {
	request := token(stack.Annotations[v1.PreviewRequestAnnotation])
	seen, err := r.withLocalProgram(ctx, stack, seen)
	if err != nil {
		return err
	}
	refused := previewRefused(seen)
	if refused == "" {
		if problem := r.checkRun(stack, seen, run.Preview); problem != nil {
			refused = fmt.Sprintf("%s: %s", problem.Reason, problem.Message)
		}
	}
	if refused != "" {
		return r.patchStatus(ctx, stack, func() { refusePreview(stack, request, refused, r.Now()) })
	}
	return r.start(ctx, stack, seen, launch{kind: run.PreviewOnRequest(), request: request})
}

// refusePreview records why a requested preview cannot be done.
func refusePreview(stack *v1.Stack, request, why string, now time.Time) {
	stack.Status.Preview = &v1.PreviewStatus{Request: request, State: v1.UpdateFailed, Message: why, EndedAt: &metav1.Time{Time: now}}
}

// withdrawPreview drops a preview that is queued and no longer requested.
func withdrawPreview(stack *v1.Stack) { stack.Status.Preview = nil }

// previewRefused returns why there can be no preview now.
func previewRefused(seen *observed) string {
	switch {
	case seen.Deleting:
		return "The Stack is being deleted"
	case seen.Suspended:
		return "The Stack is suspended: resume it first"
	case seen.Problem != nil:
		return fmt.Sprintf("%s: %s", seen.Problem.Reason, seen.Problem.Message)
	case len(seen.Unready) > 0:
		return "It depends on what is not ready: " + seen.Unready[0]
	}
	return ""
}

// publishSteps writes the steps of an ended preview to a ConfigMap, and returns its status.
func (r *StackReconciler) publishSteps(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) *v1.PreviewStatus {
	ended := previewAfter(stack, record, result)
	if !run.KindOfRecord(record).OnRequest || result.Outcome != run.Succeeded {
		return ended
	}
	var err error
	if ended.ConfigMap, ended.Digest, err = r.publisher().PreviewSteps(ctx, stack, result); err != nil {
		ended.Message = fmt.Sprintf("Cannot write what the update would do to each resource: %v", err)
	}
	return ended
}

// previewAfter is what the status says of the last preview on request after a run.
func previewAfter(stack *v1.Stack, record *v1.RunStatus, result *run.Result) *v1.PreviewStatus {
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
	ended.State, ended.ResourceChanges, ended.Message = v1.UpdateSucceeded, changes(result.Changes), result.Message
	return ended
}

// failPreview records a preview whose end nobody saw. It has changed nothing.
func failPreview(stack *v1.Stack, message string, now time.Time) {
	if told := stack.Status.Preview; told != nil {
		told.State, told.Message, told.EndedAt = v1.UpdateFailed, message, &metav1.Time{Time: now}
	}
}
