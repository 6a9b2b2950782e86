// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// neverRan reports that every ended run failed before Pulumi started or was a preview, so
// that there is nothing to destroy. A Stack moved here from the Pulumi operator, which
// writes no digest, has no run of ours and proves nothing. Our first run then records the
// earlier update in ProjectInfo (recordRun), and the commit that succeeded there stays in
// the status.
func neverRan(stack *v1.Stack) bool {
	succeeded := stack.Status.LastUpdate != nil && stack.Status.LastUpdate.LastSuccessfulCommit != ""
	return stack.Status.ProjectInfo == nil && stack.Status.LastAttemptedDigest != "" && !succeeded
}

// edited reports whether the last run was of another generation. A run of the Pulumi
// operator may have none.
func edited(stack *v1.Stack) bool {
	last := stack.Status.LastUpdate
	return last != nil && last.Generation != 0 && last.Generation != stack.Generation
}

// lastRun reads the last run from the status.
func lastRun(stack *v1.Stack) decide.LastRun {
	last := decide.LastRun{Digest: stack.Status.LastAttemptedDigest}
	update := stack.Status.LastUpdate
	if update == nil {
		return last
	}
	last.Operation = run.OfUpdateType(update.Type).Operation
	last.RunDigest = update.Digest
	last.Succeeded = update.State == v1.UpdateSucceeded
	last.Reason, last.Message = update.Reason, update.Message
	if update.LastResyncTime != nil {
		last.EndedAt = update.LastResyncTime.Time
	}
	return last
}

// observation returns what the Stack itself says of what is to be done next.
func observation(stack *v1.Stack, now time.Time) decide.Observation {
	return decide.Observation{
		Deleting:            !stack.DeletionTimestamp.IsZero(),
		HasFinalizer:        slices.Contains(stack.Finalizers, v1.StackFinalizer),
		MayHaveCreated:      mayHaveCreated(stack),
		NeverRan:            neverRan(stack),
		MustExist:           mustExist(stack),
		Suspended:           stack.Spec.Suspend,
		DestroyOnFinalize:   stack.Spec.DestroyOnFinalize,
		Interval:            stack.GetInterval(),
		RetryInterval:       stack.GetRetryInterval(),
		Preview:             stack.Spec.Preview,
		ContinueResync:      stack.Spec.ContinueResyncOnCommitMatch,
		RetryConflict:       stack.Spec.RetryOnUpdateConflict,
		Requested:           requested(stack),
		PreviewRequested:    previewRequested(stack),
		PreviewWaits:        previewWaits(stack),
		RunPending:          stack.Status.RunPending,
		Edited:              edited(stack),
		Interrupted:         len(stack.Status.Interrupted) > 0,
		UnknownCreates:      stack.Status.UnknownCreates,
		ClearPendingCreates: stack.Spec.PendingCreates == v1.PendingCreatesClear,
		Last:                lastRun(stack),
		Cancelled:           cancelledRun(stack),
		Failures:            stack.Status.Failures,
		FormerOutputs:       hasFormerOutputs(stack),
		Now:                 now,
	}
}
