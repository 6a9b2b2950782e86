// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// A preview on request is a run like any other, one at a time and in its Stack's turn,
// but not a reconcile: only status.preview reports it.

// previewOnRequest starts the preview, or says why it cannot.
func (r *StackReconciler) previewOnRequest(ctx context.Context, stack *v1.Stack, seen *observe.Observation) error {
	request := stackstatus.RequestToken(stack.Annotations[v1.PreviewRequestAnnotation])
	seen, err := r.observer().WithLocalProgram(ctx, stack, seen)
	if err != nil {
		return err
	}
	refused, preview := previewRefused(seen), launch{kind: run.PreviewOnRequest(), request: request}
	if refused == "" {
		if problem := r.checkStart(ctx, stack, seen, &preview); problem != nil {
			refused = fmt.Sprintf("%s: %s", problem.Reason, problem.Message)
		}
	}
	if refused != "" {
		return r.patchStatus(ctx, stack, func() { stackstatus.RefusePreview(stack, request, refused, r.Now()) })
	}
	return r.start(ctx, stack, seen, preview)
}

// previewRefused returns why there can be no preview now.
func previewRefused(seen *observe.Observation) string {
	switch {
	case seen.Deleting:
		return "The Stack is being deleted"
	case seen.Suspended:
		return "The Stack is suspended: resume it first"
	case seen.Problem != nil:
		return fmt.Sprintf("%s: %s", seen.Problem.Reason, seen.Problem.Message)
	case seen.Policies.Problem != nil:
		return fmt.Sprintf("%s: %s", seen.Policies.Problem.Reason, seen.Policies.Problem.Message)
	case len(seen.Unready) > 0:
		return "Dependencies are not ready: " + seen.Unready[0]
	}
	return ""
}
