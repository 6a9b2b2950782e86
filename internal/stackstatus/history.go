// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// addHistory adds the end of a run to the history.
func addHistory(stack *v1.Stack, record *v1.RunStatus, result *run.Result, reason string) {
	took := result.EndedAt.Sub(result.StartedAt).Round(time.Millisecond)
	metadata := historyMetadata(record, result)
	if p := stack.Status.Plan; p != nil && p.Digest == record.Approved && p.ApprovedBy != "" {
		metadata["approvedBy"] = p.ApprovedBy
	}
	stack.Status.History.Upsert(historyDigest(record), result.EndedAt, took, reason, metadata)
}

// addInterruptedHistory adds a run whose end nobody saw to the history. Its duration is unknown, but
// no longer than until it was given up.
func addInterruptedHistory(stack *v1.Stack, record *v1.RunStatus, now time.Time) {
	took := max(0, now.Sub(record.StartedAt.Time)).Round(time.Millisecond) // clocks differ
	stack.Status.History.Upsert(historyDigest(record), now, took, v1.RunInterruptedReason, historyMetadata(record, &run.Result{}))
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
