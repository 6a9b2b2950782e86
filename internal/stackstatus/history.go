// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"maps"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// addHistory adds the end of a run to the history.
func addHistory(stack *v1.Stack, record *v1.RunStatus, result *run.Result, reason string) {
	took := result.EndedAt.Sub(result.StartedAt).Round(time.Millisecond)
	metadata := historyMetadata(record, result)
	if by := ApprovedBy(stack, record); by != "" {
		metadata["approvedBy"] = by
	}
	upsertHistory(stack, record, result.EndedAt, took, reason, hasChanged(record, result), metadata)
}

// ApprovedBy returns who has approved the plan that the run applies, "" if nobody had to.
func ApprovedBy(stack *v1.Stack, record *v1.RunStatus) string {
	if p := stack.Status.Plan; p != nil && p.Digest == record.Approved {
		return p.ApprovedBy
	}
	return ""
}

// upsertHistory adds the run to the entry that it shares with others, or to a new one.
func upsertHistory(stack *v1.Stack, record *v1.RunStatus, at time.Time, took time.Duration, reason string, changed bool, metadata map[string]string) {
	digest := historyDigest(record)
	var before map[string]string
	for _, entry := range stack.Status.History {
		if entry.Digest == digest && entry.LastReconciledStatus == reason {
			before = entry.Metadata
		}
	}
	maps.Copy(metadata, history.Of(record.ID, changed, before))
	last := LastChange(stack)
	if changed {
		last = record.ID
	}
	stack.Status.History.Upsert(digest, at, took, reason, metadata)
	history.SetLastChange(stack.Status.History, last)
}

// hasChanged reports whether a run has changed resources, outputs or options, or may have.
func hasChanged(record *v1.RunStatus, result *run.Result) bool {
	return run.KindOfRecord(record).ChangesResources && (result.Done != nil || isChanged(result.Changes))
}

// addInterruptedHistory adds a run whose end nobody saw to the history. Its duration is unknown, but
// no longer than until it was given up.
func addInterruptedHistory(stack *v1.Stack, record *v1.RunStatus, now time.Time) {
	took := max(0, now.Sub(record.StartedAt.Time)).Round(time.Millisecond) // clocks differ
	upsertHistory(stack, record, now, took, v1.RunInterruptedReason, false, historyMetadata(record, &run.Result{}))
}

// addToLatest has the latest entry name a correction of drift that has failed, and what it has changed. It
// has no entry of its own, as it leaves the last run as it is.
func addToLatest(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	if latest := stack.Status.History.Latest(); latest != nil && hasChanged(record, result) {
		latest.Metadata = history.WithChange(latest.Metadata, record.ID)
	}
}

// IsInHistory reports whether an entry of the history is to name the run.
func IsInHistory(stack *v1.Stack, record *v1.RunStatus, result *run.Result) bool {
	isOwn := !isCorrection(record) || result.Outcome == run.Succeeded
	return run.KindOfRecord(record).Reconciles && (isOwn || stack.Status.History.Latest() != nil)
}

// historyDigest is empty for a run that runs no inputs: it must not share an entry with one
// that does and that ended in the same way.
func historyDigest(record *v1.RunStatus) string {
	if !run.KindOfRecord(record).RunsInputs {
		return ""
	}
	return inputsOf(record)
}

func recoveryReason(stack *v1.Stack, record *v1.RunStatus, result *run.Result) string {
	switch {
	case result.Outcome == run.Succeeded:
		return v1.RecoveredStatus
	case wasCancelled(stack, record):
		return v1.CancelRequestedReason
	}
	return result.Outcome.Reason(run.KindOfRecord(record))
}

func historyMetadata(record *v1.RunStatus, result *run.Result) map[string]string {
	metadata := map[string]string{"operation": string(record.Operation)}
	switch {
	case result.Changes == (run.Changes{}):
	case run.KindOfRecord(record).Previews:
		metadata["changes"] = list(previewCounted(result.Changes))
	default:
		metadata["changes"] = changesText(result.Changes)
	}
	if record.Approved != "" {
		metadata["plan"] = record.Approved
	}
	if record.Revision != "" {
		metadata["revision"] = record.Revision
	}
	if record.OriginRevision != "" {
		metadata["originRevision"] = record.OriginRevision
	}
	return metadata
}
