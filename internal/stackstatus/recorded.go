// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Recorded returns the entry of the run in flight for the record of all runs, which is that of the status for this
// run alone, with why it ran and how it failed. It is false for a run that is not recorded: one that is no reconcile.
func Recorded(stack *v1.Stack, result *run.Result) (meta.Snapshot, bool) {
	record := stack.Status.Run
	if !run.KindOfRecord(record).Reconciles {
		return meta.Snapshot{}, false
	}
	after := stack.DeepCopy()
	AbsorbResult(after, result)
	entry, isThere := entryOf(after, record.ID)
	if !isThere {
		if !isCorrection(record) || result.Outcome == run.Succeeded {
			return meta.Snapshot{}, false
		}
		// A correction of drift that has failed has no entry of its own in the status.
		took := result.EndedAt.Sub(result.StartedAt).Round(time.Millisecond)
		metadata := historyMetadata(record, result)
		if by := ApprovedBy(stack, record); by != "" {
			metadata["approvedBy"] = by
		}
		entry = meta.Snapshot{Digest: historyDigest(record), LastReconciled: metav1.NewTime(result.EndedAt), LastReconciledDuration: metav1.Duration{Duration: took},
			LastReconciledStatus: result.Outcome.Reason(run.KindOfRecord(record)), Metadata: metadata}
	}
	return alone(stack, entry, hasChanged(record, result), result.Message), true
}

// RecordedInterrupted returns the entry of a run in flight whose end nobody saw.
func RecordedInterrupted(stack *v1.Stack, message string, now time.Time) (meta.Snapshot, bool) {
	record := stack.Status.Run
	if !run.KindOfRecord(record).Reconciles {
		return meta.Snapshot{}, false
	}
	after := stack.DeepCopy()
	MarkInterrupted(after, message, now)
	entry, isThere := entryOf(after, record.ID)
	if !isThere {
		return meta.Snapshot{}, false
	}
	return alone(stack, entry, false, message), true
}

// entryOf returns the entry that the run has added to the history of the status.
func entryOf(stack *v1.Stack, id string) (meta.Snapshot, bool) {
	latest := stack.Status.History.Latest()
	if latest == nil || history.Run(latest.Metadata) != id {
		return meta.Snapshot{}, false
	}
	return *latest, true
}

// alone returns an entry without the runs that share it in the status.
func alone(stack *v1.Stack, entry meta.Snapshot, changed bool, message string) meta.Snapshot {
	record := stack.Status.Run
	entry.FirstReconciled, entry.TotalReconciliations = entry.LastReconciled, 1
	metadata := history.Alone(record.ID, changed, entry.Metadata)
	metadata["cause"] = cause(stack, record)
	if record.ReconcileRequest != "" {
		metadata["request"] = record.ReconcileRequest // the last one by then, which may be older than the run
	}
	if message != "" {
		metadata["message"] = message
	}
	entry.Metadata = metadata
	return entry
}

// cause says why the run has started, as far as its record and the status before its end tell.
func cause(stack *v1.Stack, record *v1.RunStatus) string {
	isSame := record.Digest != "" && record.Digest == stack.Status.LastAttemptedDigest
	switch {
	case record.Operation == v1.OperationRecover:
		return "interrupted run"
	case record.Drift != "":
		return "drift"
	case record.Approved != "":
		return "approval"
	case !stack.DeletionTimestamp.IsZero():
		return "deletion of the Stack"
	case isSame && stack.Status.Failures > 0:
		return "retry"
	case isSame:
		return "interval or request"
	}
	return "change"
}
