// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
)

// NotReadySince returns since when the Stack has not been ready for that reason, or now
// if the reason is new. What was the matter before the deletion of the Stack does not
// count: what a deletion waits for is given its time from then on.
func NotReadySince(stack *v1.Stack, reason string, now time.Time) time.Time {
	ready := getCondition(stack, meta.ReadyCondition)
	if ready == nil || ready.Reason != reason {
		return now
	}
	if deleted := stack.DeletionTimestamp; deleted != nil && deleted.After(ready.LastTransitionTime.Time) {
		return deleted.Time
	}
	return ready.LastTransitionTime.Time
}

// IsKnownNotKept reports whether the Stack already says that its status is not kept. The
// operator's CRD has the conditions, too.
func IsKnownNotKept(stack *v1.Stack) bool {
	return reasonOf(stack, meta.ReadyCondition) == v1.StatusNotKeptReason
}

// MarkDecision marks a Stack that cannot be run, at the revision if there is one.
func MarkDecision(stack *v1.Stack, decision decide.Decision, revision string, mark func(stack *v1.Stack, reason, message string)) {
	before := getCondition(stack, meta.ReadyCondition)
	if revision != "" {
		stack.Status.LastAttemptedRevision = revision
	}
	if !decision.Fetching { // otherwise there is nothing to answer yet
		// The failure answers the request, but the run that it asks for is still to come.
		AcknowledgeRequests(stack)
	}
	mark(stack, decision.Reason, decision.Message)
	KeepSince(stack, before)
}

// KeepSince keeps the time at which Ready got its status and reason, which NotReadySince
// reads. Flux's conditions renew it with each message, and an error of the network may have
// another port in each.
func KeepSince(stack *v1.Stack, before *metav1.Condition) {
	for i := range stack.Status.Conditions {
		ready := &stack.Status.Conditions[i]
		if before != nil && ready.Type == meta.ReadyCondition && ready.Status == before.Status && ready.Reason == before.Reason {
			ready.LastTransitionTime = before.LastTransitionTime
		}
	}
}

// IsReported reports whether the condition already says what was decided.
func IsReported(ready *metav1.Condition, decision decide.Decision) bool {
	return ready != nil && ready.Reason == decision.Reason && ready.Message == decision.Message
}

// IsOfLastRun reports whether the decision only repeats how the last run failed.
func IsOfLastRun(stack *v1.Stack, decision decide.Decision) bool {
	if cancelled := stack.Status.CancelledRun; cancelled != nil && cancelled.EndedAt != nil && decision.Reason == v1.CancelRequestedReason {
		return true // a recovery may have come after it
	}
	last := LastRun(stack)
	return last != nil && last.State == v1.UpdateFailed && last.Reason == decision.Reason && last.Message == decision.Message
}

// markEdited marks a Stack as waiting if its conditions are those of an earlier
// generation, so that a status written before the run does not pass them off as current.
func markEdited(stack *v1.Stack, message string) {
	said := getCondition(stack, meta.ReadyCondition) != nil && stack.Status.ObservedGeneration == stack.Generation
	if !said && !stack.Spec.Suspend && !IsKnownNotKept(stack) { // which is about no generation
		MarkWaiting(stack, message)
	}
}

// MarkWaiting marks a Stack that runs as soon as it can.
func MarkWaiting(stack *v1.Stack, message string) {
	markReady(stack, metav1.ConditionUnknown, meta.ProgressingReason, message)
	markReconciling(stack, meta.ProgressingReason, message)
}

// MarkSuspended marks a suspended Stack. If it was suspended before its run could start, the
// conditions say so; otherwise they are those of the last run.
func MarkSuspended(stack *v1.Stack) {
	markHandled(stack)
	if reasonOf(stack, meta.ReconcilingCondition) != meta.ProgressingReason {
		return
	}
	deleteCondition(stack, meta.ReconcilingCondition)
	if reasonOf(stack, meta.ReadyCondition) == v1.ApprovalRequiredReason {
		return // it still waits for that, and for being resumed
	}
	markReady(stack, metav1.ConditionUnknown, meta.SuspendedReason, "Suspended before its first run")
}

// MarkUnchanged marks a Stack whose last run was of the current inputs, which may be at
// another revision.
func MarkUnchanged(stack *v1.Stack, isPreview bool, revision, originRevision string) {
	markHandled(stack)
	markCorrectionPlan(stack)
	stack.Status.LastAttemptedRevision = revision
	if isPreview {
		markPreviewed(stack, previewedAt(revision, LastRun(stack).Message))
		return
	}
	markInSync(stack, revision, originRevision)
}

// markInSync marks a Stack whose inputs are applied at the revision.
func markInSync(stack *v1.Stack, revision, originRevision string) {
	stack.Status.LastAppliedRevision = revision
	stack.Status.LastAppliedOriginRevision = originRevision
	stack.Status.ObservedGeneration = stack.Generation
	deleteCondition(stack, meta.ReconcilingCondition)
	deleteCondition(stack, meta.StalledCondition)
	markReady(stack, metav1.ConditionTrue, meta.ReconciliationSucceededReason, appliedText(stack, revision))
}

// markPreviewed marks a Stack whose inputs were previewed. The message is the result of
// the last preview; the applied revision stays what it was.
func markPreviewed(stack *v1.Stack, message string) {
	stack.Status.ObservedGeneration = stack.Generation
	deleteCondition(stack, meta.ReconcilingCondition)
	deleteCondition(stack, meta.StalledCondition)
	markReady(stack, metav1.ConditionTrue, meta.ReconciliationSucceededReason, message)
}

// MarkFailed marks a failure that is retried.
func MarkFailed(stack *v1.Stack, reason, message string) {
	markReady(stack, metav1.ConditionFalse, reason, message)
	markReconciling(stack, meta.ProgressingWithRetryReason, message)
}

// MarkFetching marks a Stack whose source is still being fetched. The reason is not
// ProgressingWithRetry, so that clients keep waiting instead of seeing a failure.
func MarkFetching(stack *v1.Stack, reason, message string) {
	markReady(stack, metav1.ConditionFalse, reason, message)
	markReconciling(stack, meta.ProgressingReason, message)
}

// MarkStalled marks a failure that only an edit can fix.
func MarkStalled(stack *v1.Stack, reason, message string) {
	stack.Status.ObservedGeneration = stack.Generation
	markReady(stack, metav1.ConditionFalse, reason, message)
	deleteCondition(stack, meta.ReconcilingCondition)
	setCondition(stack, meta.StalledCondition, metav1.ConditionTrue, reason, message)
}
