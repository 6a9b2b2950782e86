// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The functions in this file move the status of a Stack from one state to the next. They
// modify only the object they are given; the reconciler writes it. What they set is exact
// for kstatus: Reconciling and Stalled are present only when true, and observedGeneration
// advances once the generation is applied or found to be impossible.

// markEdited marks a Stack as waiting if its conditions are those of an earlier
// generation, so that a status written before the run does not pass them off as current.
func markEdited(stack *v1.Stack, message string) {
	said := conditions.Has(stack, meta.ReadyCondition) && stack.Status.ObservedGeneration == stack.Generation
	if !said && !stack.Spec.Suspend && !isKnownNotKept(stack) { // which is about no generation
		markWaiting(stack, message)
	}
}

// markWaiting marks a Stack that runs as soon as it can.
func markWaiting(stack *v1.Stack, message string) {
	conditions.MarkUnknown(stack, meta.ReadyCondition, meta.ProgressingReason, "%s", message)
	conditions.MarkReconciling(stack, meta.ProgressingReason, "%s", message)
}

// markSuspended marks a suspended Stack. If it was suspended before its run could start, the
// conditions say so; otherwise they are those of the last run.
func markSuspended(stack *v1.Stack) {
	markHandled(stack)
	if conditions.GetReason(stack, meta.ReconcilingCondition) != meta.ProgressingReason {
		return
	}
	conditions.Delete(stack, meta.ReconcilingCondition)
	conditions.MarkUnknown(stack, meta.ReadyCondition, meta.SuspendedReason, "Suspended before it was run")
}

// markUnchanged marks a Stack whose last run was of the current inputs, which may be at
// another revision.
func markUnchanged(stack *v1.Stack, isPreview bool, revision, originRevision string) {
	markHandled(stack)
	stack.Status.LastAttemptedRevision = revision
	if isPreview {
		markPreviewed(stack, previewedAt(revision, stack.Status.LastUpdate.Message))
		return
	}
	markInSync(stack, revision, originRevision)
}

// markInSync marks a Stack whose inputs are applied at the revision.
func markInSync(stack *v1.Stack, revision, originRevision string) {
	stack.Status.LastAppliedRevision = revision
	stack.Status.LastAppliedOriginRevision = originRevision
	stack.Status.ObservedGeneration = stack.Generation
	conditions.Delete(stack, meta.ReconcilingCondition)
	conditions.Delete(stack, meta.StalledCondition)
	conditions.MarkTrue(stack, meta.ReadyCondition, meta.ReconciliationSucceededReason, "%s", appliedText(stack, revision))
}

// markPreviewed marks a Stack whose inputs were previewed. The message is the result of
// the last preview; the applied revision stays what it was.
func markPreviewed(stack *v1.Stack, message string) {
	stack.Status.ObservedGeneration = stack.Generation
	conditions.Delete(stack, meta.ReconcilingCondition)
	conditions.Delete(stack, meta.StalledCondition)
	conditions.MarkTrue(stack, meta.ReadyCondition, meta.ReconciliationSucceededReason, "%s", message)
}

// markFailed marks a failure that is retried.
func markFailed(stack *v1.Stack, reason, message string) {
	conditions.MarkFalse(stack, meta.ReadyCondition, reason, "%s", message)
	conditions.MarkReconciling(stack, meta.ProgressingWithRetryReason, "%s", message)
}

// markFetching marks a Stack whose source is still being fetched. The reason is not
// ProgressingWithRetry, so that clients keep waiting instead of seeing a failure.
func markFetching(stack *v1.Stack, reason, message string) {
	conditions.MarkFalse(stack, meta.ReadyCondition, reason, "%s", message)
	conditions.MarkReconciling(stack, meta.ProgressingReason, "%s", message)
}

// markStalled marks a failure that only an edit can fix.
func markStalled(stack *v1.Stack, reason, message string) {
	stack.Status.ObservedGeneration = stack.Generation
	conditions.MarkFalse(stack, meta.ReadyCondition, reason, "%s", message)
	conditions.MarkStalled(stack, reason, "%s", message)
}

// recordRun records a run that is about to start.
func recordRun(stack *v1.Stack, record v1.RunStatus) {
	if run.KindOfRecord(&record).OnRequest {
		stack.Status.Run = &record
		stack.Status.Preview = &v1.PreviewStatus{Request: record.PreviewRequest, Run: record.ID, Revision: record.Revision, StartedAt: &record.StartedAt}
		return
	}
	if updatedElsewhere(stack) {
		// That update may have created resources, which are now ours to destroy.
		info := &v1.ProjectInfo{}
		if told := stack.Status.ProjectInfo; told != nil {
			info = told
		}
		info.UpdatedElsewhere = true
		stack.Status.ProjectInfo = info
	}
	stack.Status.Run = &record
	stack.Status.CurrentUpdate = nil // the operator's update: the operator will not see how it ends
	beginAgain(stack, record.Operation)
	if run.KindOfRecord(&record).RunsInputs {
		stack.Status.RunPending = false
	}
	if record.Revision != "" || record.Operation != v1.OperationRecover {
		stack.Status.LastAttemptedRevision = record.Revision // a recovery may have no program
	}
	markWaiting(stack, startText(&record)+stack.GetTimeout().String())
}

// markHeldElsewhere marks a run that, as far as is known, another controller has in
// flight. The text says what it waits for.
func markHeldElsewhere(stack *v1.Stack, text string) {
	if !run.KindOfRecord(stack.Status.Run).InConditions {
		return
	}
	stack.Status.Run.Progress = nil
	markWaiting(stack, text)
}

// markLeft marks a run that the controller, which is shutting down, leaves in flight.
func markLeft(stack *v1.Stack) {
	left := stack.Status.Run
	if !run.KindOfRecord(left).InConditions {
		return
	}
	left.Progress = nil
	markWaiting(stack, fmt.Sprintf("The controller ended while run %s (%s) was in flight; the next one recovers from it", left.ID, left.Operation))
}

// withdrawRun drops the record of a run that did not start. The request for it already
// counts as handled, so RunPending makes the run happen without one.
func withdrawRun(stack *v1.Stack) {
	switch kind := run.KindOfRecord(stack.Status.Run); {
	case kind.OnRequest:
		stack.Status.Preview = nil // requested again
	case kind.RunsInputs:
		stack.Status.RunPending = true
	}
	stack.Status.Run = nil
}

// loseRun gives up on a recorded run whose end nobody saw. It counts as a failure: the
// Stack recovers from it and then runs its inputs again, the first time at once.
func loseRun(stack *v1.Stack, message string, now time.Time) {
	lost := stack.Status.Run
	stack.Status.Run = nil
	switch kind := run.KindOfRecord(lost); {
	case kind.OnRequest:
		failPreview(stack, message, now)
		return
	case !kind.Reconciles:
		markWaiting(stack, message) // it changed nothing, and runs again
		return
	}
	countAnew(stack, lost)
	stack.Status.Failures++
	interrupt(stack, lost, now)
	noteLost(stack, lost, now)
	if wasCancelled(stack, lost) {
		noteCancelled(stack, lost, message)
	}
	setLastUpdate(stack, lost, v1.UpdateFailed, v1.RunInterruptedReason, message, now)
	markEnded(stack, lost, message, func() { markFailed(stack, v1.RunInterruptedReason, message) })
}

// maxInterrupted bounds the recorded interrupted runs. Only recoveries that are
// themselves killed add to the first.
const maxInterrupted = 20

// interrupt records a run to recover from, next to those that it was itself recovering
// from.
func interrupt(stack *v1.Stack, record *v1.RunStatus, ended time.Time) {
	if !run.KindOfRecord(record).ChangesState {
		return
	}
	if stack.Status.ProjectInfo == nil {
		// Pulumi may have started, so the stack may exist.
		stack.Status.ProjectInfo = &v1.ProjectInfo{}
	}
	backend := ""
	if told, info := record.ProjectInfo, stack.Status.ProjectInfo; told != nil {
		backend = told.Backend
		if info.Name == "" {
			info.Name, info.Runtime = told.Name, told.Runtime
		}
	}
	noted := append(stack.Status.Interrupted, v1.InterruptedRun{
		ID: record.ID, Operation: record.Operation, Host: record.Holder.Host, Backend: backend, Failures: stack.Status.Failures,
		Emptied: record.Emptied, Instance: record.Holder.Instance, StartedAt: record.StartedAt.DeepCopy(), EndedAt: &metav1.Time{Time: ended},
	})
	if record.Job != "" {
		// Its locks carry the host name of its pod, which is the name of its Job.
		last := &noted[len(noted)-1]
		last.Host, last.Instance = record.Job, ""
	}
	if len(noted) > maxInterrupted {
		// Keep the first, which all the others were recovering from.
		noted = slices.Delete(noted, 1, 2)
	}
	stack.Status.Interrupted = noted
}
