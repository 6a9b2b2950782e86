// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// CancelAsked returns how a person asks to cancel the run, or "".
func CancelAsked(stack *v1.Stack, record *v1.RunStatus) v1.CancelMode {
	switch {
	case record == nil || record.ID == "" || !run.KindOfRecord(record).Cancellable:
		return ""
	case stack.Annotations[v1.CancelRunNowAnnotation] == record.ID:
		return v1.CancelNow
	case stack.Annotations[v1.CancelRunAnnotation] == record.ID:
		return v1.CancelGently
	}
	return ""
}

// MustCancel reports that the run has to be cancelled in a way that the record does not
// say yet. Cancelling at once cannot be turned back into a graceful cancel.
func MustCancel(stack *v1.Stack) bool {
	record := stack.Status.Run
	asked := CancelAsked(stack, record)
	return asked != "" && asked != record.Cancel && record.Cancel != v1.CancelNow
}

// RecordCancel records how a person asks to cancel the run in flight.
func RecordCancel(stack *v1.Stack) {
	record := stack.Status.Run
	record.Cancel, record.Progress = CancelAsked(stack, record), nil
	if run.KindOfRecord(record).InConditions {
		// Whoever cancels no longer wants a run that was requested before.
		markHandled(stack)
		MarkWaiting(stack, cancellingText(record))
	}
}

func cancellingText(record *v1.RunStatus) string {
	if record.Cancel == v1.CancelNow {
		return fmt.Sprintf("Cancelling run %s (%s) at once", record.ID, record.Operation)
	}
	return fmt.Sprintf("Cancelling run %s (%s): operations in flight may finish within the controller's --cancel-grace", record.ID, record.Operation)
}

// cancellingProgress adds what delays the cancel.
func cancellingProgress(record *v1.RunStatus, progress run.Progress) string {
	if progress.Waiting == "" {
		return cancellingText(record)
	}
	return cancellingText(record) + ": " + progress.Waiting
}

// wasCancelled reports whether a person asked to cancel the run. Only the annotation says
// so if the controller of the run was gone by then.
func wasCancelled(stack *v1.Stack, record *v1.RunStatus) bool {
	return run.KindOfRecord(record).Cancellable && (record.Cancel != "" || CancelAsked(stack, record) != "")
}

// absorbCancelled absorbs the end of a cancelled run, which is no failure.
func absorbCancelled(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	recordCancelled(stack, record, result.Message)
	stack.Status.CancelledRun.EndedAt = &metav1.Time{Time: result.EndedAt}
	message := stack.Status.CancelledRun.Message
	setLastRun(stack, record, v1.UpdateFailed, v1.CancelRequestedReason, message, result.EndedAt)
	stack.Status.LastUpdate.Permalink = result.Permalink
	if result.Interrupted {
		addInterrupted(stack, record, result.EndedAt)
		if record.Operation != v1.OperationRecover {
			markEnded(stack, record, message, func() { MarkWaiting(stack, message) }) // recovery comes first
			return
		}
	}
	markEnded(stack, record, message, func() { MarkStalled(stack, v1.CancelRequestedReason, message) })
}

// recordCancelled keeps the run from being started again.
func recordCancelled(stack *v1.Stack, record *v1.RunStatus, end string) {
	kind := run.KindOfRecord(record)
	what, starters := kind.Title, "a new revision, an edit or a reconcile request"
	if record.Revision != "" {
		what += " of revision " + record.Revision
	}
	if kind.Program != run.ProgramAlways {
		starters = "an edit or a reconcile request" // as decide has it
	}
	stack.Status.CancelledRun = &v1.CancelledRun{
		ID: record.ID, Operation: record.Operation, Generation: record.Generation, Digest: record.Digest,
		Message: fmt.Sprintf("%s was cancelled on request and starts again only with %s: %s",
			what, starters, cmp.Or(end, "it has ended")),
	}
}

// clearCancelled drops the cancelled run from the status when that operation, or the one that
// follows it, starts.
func clearCancelled(stack *v1.Stack, operation v1.Operation) {
	last := stack.Status.CancelledRun
	if last != nil && (run.KindOf(operation).RunsInputs || last.Operation == operation) {
		stack.Status.CancelledRun = nil
	}
}

// cancelledRun returns the cancelled run from the status, if the spec is still the same.
func cancelledRun(stack *v1.Stack) *decide.Cancelled {
	last := stack.Status.CancelledRun
	if last == nil || last.Generation != stack.Generation {
		return nil
	}
	return &decide.Cancelled{Operation: last.Operation, Digest: inputsDigest(last.Operation, last.Digest), Message: last.Message}
}
