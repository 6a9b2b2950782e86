// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// MarkQueued marks a run that waits for a slot. The request is that of a preview on request.
func MarkQueued(stack *v1.Stack, kind run.Kind, request, why string) {
	switch {
	case kind.OnRequest:
		stack.Status.Preview = &v1.PreviewStatus{Request: request, Message: why}
	case kind.InConditions:
		MarkWaiting(stack, why)
	}
}

// RecordRun records a run that is about to start.
func RecordRun(stack *v1.Stack, record v1.RunStatus) {
	kind, mayHaveResources := run.KindOfRecord(&record), updatedElsewhere(stack)
	record.Digest = recordedDigest(record.Operation, record.Digest)
	stack.Status.Run = &record
	if kind.OnRequest {
		stack.Status.Preview = &v1.PreviewStatus{Request: record.PreviewRequest, Run: record.ID, Revision: record.Revision, StartedAt: &record.StartedAt}
	}
	if !kind.InConditions {
		return
	}
	if mayHaveResources {
		// That update may have created resources, which are now ours to destroy.
		info := &v1.ProjectInfo{}
		if recorded := stack.Status.ProjectInfo; recorded != nil {
			info = recorded
		}
		info.UpdatedElsewhere = true
		stack.Status.ProjectInfo = info
	}
	recordApproval(stack, &record)
	attemptCorrection(stack, &record)
	stack.Status.CurrentUpdate = nil // the operator's update: the operator will not see how it ends
	clearCancelled(stack, record.Operation)
	if kind.RunsInputs {
		stack.Status.RunPending = false
	}
	if record.Revision != "" || record.Operation != v1.OperationRecover {
		stack.Status.LastAttemptedRevision = record.Revision // a recovery may have no program
	}
	MarkWaiting(stack, startText(&record)+stack.GetTimeout().String())
}

// MarkHeldElsewhere marks a run that, as far as is known, another controller has in
// flight. The text says what it waits for.
func MarkHeldElsewhere(stack *v1.Stack, text string) {
	if !run.KindOfRecord(stack.Status.Run).InConditions {
		return
	}
	stack.Status.Run.Progress = nil
	MarkWaiting(stack, text)
}

// MarkLeftInFlight marks a run that the controller, which is shutting down, leaves in flight.
func MarkLeftInFlight(stack *v1.Stack) {
	left := stack.Status.Run
	if !run.KindOfRecord(left).InConditions {
		return
	}
	left.Progress = nil
	MarkWaiting(stack, fmt.Sprintf("The controller exited while run %s (%s) was in flight; the next controller recovers from it", left.ID, left.Operation))
}

// DropRecord drops the record of a run that did not start. The request for it already
// counts as handled, so RunPending makes the run happen without one. None is for a correction of
// drift, and RunPending would make an update of all resources of it.
func DropRecord(stack *v1.Stack) {
	switch kind := run.KindOfRecord(stack.Status.Run); {
	case isCorrection(stack.Status.Run):
		dropCorrection(stack)
	case kind.OnRequest:
		stack.Status.Preview = nil // requested again
	case kind.RunsInputs:
		stack.Status.RunPending = true
	}
	stack.Status.Run = nil
}

// MarkInterrupted gives up on a recorded run whose end nobody saw. It counts as a failure: the
// Stack recovers from it and then runs its inputs again, the first time at once.
func MarkInterrupted(stack *v1.Stack, message string, now time.Time) {
	lost := stack.Status.Run
	stack.Status.Run = nil
	switch kind := run.KindOfRecord(lost); {
	case kind.OnRequest:
		failPreview(stack, message, now)
		return
	case lost.Operation == v1.OperationCheckDrift:
		failCheck(stack, lost.CheckRequest, message, now) // with a back-off, in case it was the check that killed the controller
		return
	case lost.Operation == v1.OperationCheckPolicies:
		FailPolicyCheck(stack, checksOf(lost), message, now) // with a back-off, as above
		return
	case kind.OfDrift:
		retryCorrection(stack, notProposed(stack, lost)+message, v1.RunInterruptedReason, now)
		return
	case !kind.Reconciles: // it changed nothing, and runs again
		if kind.InConditions {
			MarkWaiting(stack, message)
		}
		return
	}
	if isCorrection(lost) {
		markInterruptedCorrection(stack, lost, message, now)
		return
	}
	stack.Status.LastRun = LastRun(stack)
	resetFailuresOnChange(stack, lost)
	stack.Status.Failures++
	addInterrupted(stack, lost, now)
	addInterruptedHistory(stack, lost, now)
	if wasCancelled(stack, lost) {
		recordCancelled(stack, lost, message)
	}
	setLastRun(stack, lost, v1.UpdateFailed, v1.RunInterruptedReason, message, now)
	markEnded(stack, lost, message, func() { MarkFailed(stack, v1.RunInterruptedReason, message) })
}

// maxInterrupted bounds the recorded interrupted runs. Only recoveries that are
// themselves killed add to the first.
const maxInterrupted = 20

// mayLeaveLock reports whether a run of the kind that is killed may leave the stack locked, or
// more. One that only proposes has the lock while it creates the stack, and at no other time.
func mayLeaveLock(stack *v1.Stack, kind run.Kind) bool {
	info := stack.Status.ProjectInfo
	isFound := info != nil && info.Backend != ""
	return kind.ChangesState || (kind.CreatesStack && !isFound)
}

// addInterrupted records a run to recover from, next to those that it was itself recovering
// from.
func addInterrupted(stack *v1.Stack, record *v1.RunStatus, ended time.Time) {
	if !mayLeaveLock(stack, run.KindOfRecord(record)) {
		return
	}
	if stack.Status.ProjectInfo == nil {
		// Pulumi may have started, so the stack may exist.
		stack.Status.ProjectInfo = &v1.ProjectInfo{}
	}
	backend := ""
	if recorded, info := record.ProjectInfo, stack.Status.ProjectInfo; recorded != nil {
		backend = recorded.Backend
		if info.Name == "" {
			info.Name, info.Runtime = recorded.Name, recorded.Runtime
		}
	}
	noted := append(stack.Status.Interrupted, v1.InterruptedRun{
		ID: record.ID, Operation: record.Operation, Host: record.Holder.Host, Backend: backend, Failures: stack.Status.Failures,
		Emptied: record.Emptied, Drift: record.Drift, Instance: record.Holder.Instance, StartedAt: record.StartedAt.DeepCopy(), EndedAt: &metav1.Time{Time: ended},
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
