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
)

// The functions of this file move the status of a Stack from one state to the
// next. They touch nothing but the object they are given: the reconciler writes
// it. What they set is exact for kstatus: Reconciling and Stalled are there only
// when true, and observedGeneration moves when the generation is either applied
// or found to be impossible.

// markEdited keeps what is said of the former spec from being taken for what is said of
// this one, where something of the status is written before the Stack is run.
func markEdited(stack *v1.Stack, message string) {
	said := conditions.Has(stack, meta.ReadyCondition) && stack.Status.ObservedGeneration == stack.Generation
	if !said && !stack.Spec.Suspend {
		markWaiting(stack, message)
	}
}

// markWaiting: the Stack is to be run as soon as its turn comes.
func markWaiting(stack *v1.Stack, message string) {
	conditions.MarkUnknown(stack, meta.ReadyCondition, meta.ProgressingReason, "%s", message)
	conditions.MarkReconciling(stack, meta.ProgressingReason, "%s", message)
}

// markSuspended: the Stack was to be run, and will not be.
func markSuspended(stack *v1.Stack) {
	conditions.Delete(stack, meta.ReconcilingCondition)
	conditions.MarkUnknown(stack, meta.ReadyCondition, meta.SuspendedReason, "Suspended before it was run")
}

// markInSync: what is applied is what the inputs at the revision say.
func markInSync(stack *v1.Stack, revision, originRevision string) {
	stack.Status.LastAppliedRevision = revision
	stack.Status.LastAppliedOriginRevision = originRevision
	stack.Status.ObservedGeneration = stack.Generation
	conditions.Delete(stack, meta.ReconcilingCondition)
	conditions.Delete(stack, meta.StalledCondition)
	conditions.MarkTrue(stack, meta.ReadyCondition, meta.ReconciliationSucceededReason, "%s", appliedText(stack, revision))
}

// markPreviewed: it is known what an update would do. The message is what the
// last preview found; what is applied is what was applied before.
func markPreviewed(stack *v1.Stack, message string) {
	stack.Status.ObservedGeneration = stack.Generation
	conditions.Delete(stack, meta.ReconcilingCondition)
	conditions.Delete(stack, meta.StalledCondition)
	conditions.MarkTrue(stack, meta.ReadyCondition, meta.ReconciliationSucceededReason, "%s", message)
}

// markFailed: it did not work, and will be tried again.
func markFailed(stack *v1.Stack, reason, message string) {
	conditions.MarkFalse(stack, meta.ReadyCondition, reason, "%s", message)
	conditions.MarkReconciling(stack, meta.ProgressingWithRetryReason, "%s", message)
}

// markFetching: what it needs is on its way. Who waits for the Stack is to wait on, and
// not to take it for a failure, as with ProgressingWithRetry.
func markFetching(stack *v1.Stack, reason, message string) {
	conditions.MarkFalse(stack, meta.ReadyCondition, reason, "%s", message)
	conditions.MarkReconciling(stack, meta.ProgressingReason, "%s", message)
}

// markStalled: it cannot work until something is edited.
func markStalled(stack *v1.Stack, reason, message string) {
	stack.Status.ObservedGeneration = stack.Generation
	conditions.MarkFalse(stack, meta.ReadyCondition, reason, "%s", message)
	conditions.MarkStalled(stack, reason, "%s", message)
}

// recordRun notes a run that is about to start.
func recordRun(stack *v1.Stack, record v1.RunStatus) {
	if updatedElsewhere(stack) {
		// It may have made something, which is ours to destroy.
		info := &v1.ProjectInfo{}
		if told := stack.Status.ProjectInfo; told != nil {
			info = told
		}
		info.UpdatedElsewhere = true
		stack.Status.ProjectInfo = info
	}
	stack.Status.Run = &record
	stack.Status.CurrentUpdate = nil // the operator's, which will not see the end of it any more
	beginAgain(stack, record.Operation)
	if record.Operation != v1.OperationRecover && !isReading(&record) {
		// A recovery is not what anybody asks for: that comes after it.
		stack.Status.RunPending = false
	}
	if record.Revision != "" || record.Operation != v1.OperationRecover {
		stack.Status.LastAttemptedRevision = record.Revision // a recovery may do without a program
	}
	markWaiting(stack, startText(&record)+stack.GetTimeout().String())
}

// markHeldElsewhere: another controller has the run, for all that is known.
func markHeldElsewhere(stack *v1.Stack) {
	if isLook(stack.Status.Run) {
		return
	}
	stack.Status.Run.Progress = nil
	markWaiting(stack, heldText(stack))
}

// markLeft: the controller ends, and cannot wait for the end of the run.
func markLeft(stack *v1.Stack) {
	left := stack.Status.Run
	if isLook(left) {
		return
	}
	left.Progress = nil
	markWaiting(stack, fmt.Sprintf("The controller ended while run %s (%s) was in flight; the next one recovers from it", left.ID, left.Operation))
}

// withdrawRun drops the record of a run that was not started. The request for it
// is noted as handled, so that the run has to come without one.
func withdrawRun(stack *v1.Stack) {
	if isLook(stack.Status.Run) {
		stack.Status.Preview = nil // asked for again
	} else if stack.Status.Run.Operation != v1.OperationRecover && !isReading(stack.Status.Run) {
		stack.Status.RunPending = true
	}
	stack.Status.Run = nil
}

// loseRun notes that nobody has seen how the recorded run ended. It is to be
// recovered from, and its inputs are to be run again: at once the first time, and
// so it counts as a failure.
func loseRun(stack *v1.Stack, message string, now time.Time) {
	lost := stack.Status.Run
	stack.Status.Run = nil
	if isLook(lost) {
		failPreview(stack, message, now)
		return
	}
	if isReading(lost) {
		// Nothing was changed by it: what is missing is found out anew.
		markWaiting(stack, message)
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

// maxInterrupted bounds the interrupted runs that are noted. Only a recovery that
// is killed time and again adds one to the first.
const maxInterrupted = 20

// interrupt notes a run that is to be recovered from, beside those that it was
// itself to recover from. A preview has changed nothing, so that there is nothing to
// recover from.
func interrupt(stack *v1.Stack, record *v1.RunStatus, ended time.Time) {
	if record.Operation == v1.OperationPreview {
		return
	}
	if stack.Status.ProjectInfo == nil {
		// Pulumi may have been at work, so the stack may exist.
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
		Instance: record.Holder.Instance, StartedAt: record.StartedAt.DeepCopy(), EndedAt: &metav1.Time{Time: ended},
	})
	if record.Job != "" {
		// Its locks have the host name of its pod, which is that of its Job.
		last := &noted[len(noted)-1]
		last.Host, last.Instance = record.Job, ""
	}
	if len(noted) > maxInterrupted {
		// The first is what all the others recover from.
		noted = slices.Delete(noted, 1, 2)
	}
	stack.Status.Interrupted = noted
}
