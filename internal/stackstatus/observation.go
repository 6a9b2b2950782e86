// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"slices"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// mayHaveCreated reports whether there may be something to undo.
func mayHaveCreated(stack *v1.Stack) bool {
	status := &stack.Status
	return status.ProjectInfo != nil || (status.Run != nil && run.KindOfRecord(status.Run).NeedsFinalizer) || len(status.Interrupted) > 0 || len(status.UnknownCreates) > 0
}

// Observation returns what the Stack itself says of what is to be done next.
func Observation(stack *v1.Stack, now time.Time) decide.Observation {
	return decide.Observation{
		Deleting:            !stack.DeletionTimestamp.IsZero(),
		HasFinalizer:        slices.Contains(stack.Finalizers, v1.StackFinalizer),
		MayHaveCreated:      mayHaveCreated(stack),
		NeverRan:            NeverRan(stack),
		MustExist:           MustExist(stack),
		Suspended:           stack.Spec.Suspend,
		DestroyOnFinalize:   stack.Spec.DestroyOnFinalize,
		Interval:            stack.GetInterval(),
		RetryInterval:       stack.GetRetryInterval(),
		Preview:             stack.Spec.Preview,
		ChangeRequest:       HasChangeRequest(stack),
		CommentReplaced:     IsCommentReplaced(stack),
		ContinueResync:      stack.Spec.ContinueResyncOnCommitMatch,
		RetryConflict:       stack.Spec.RetryOnUpdateConflict,
		Requested:           Requested(stack),
		PreviewRequested:    PreviewRequested(stack),
		PreviewWaits:        PreviewWaits(stack),
		RunPending:          stack.Status.RunPending,
		Edited:              edited(stack),
		Interrupted:         len(stack.Status.Interrupted) > 0,
		UnknownCreates:      stack.Status.UnknownCreates,
		ClearPendingCreates: stack.Spec.PendingCreates == v1.PendingCreatesClear,
		Approval:            observeApproval(stack),
		Last:                observeLastRun(stack),
		Cancelled:           cancelledRun(stack),
		Failures:            stack.Status.Failures,
		FormerOutputs:       hasFormerOutputs(stack),
		Drift:               observeDrift(stack, now),
		Policies:            observePolicies(stack),
		Now:                 now,
	}
}
