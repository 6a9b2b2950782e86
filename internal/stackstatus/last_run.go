// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// LastRun returns the last run that has ended and counts as a reconcile, or nil. The Pulumi
// operator, and earlier versions of this controller, have described it only in
// status.lastUpdate.
func LastRun(stack *v1.Stack) *v1.LastRun {
	if last := stack.Status.LastRun; last != nil && isLatest(stack, last) {
		return last
	}
	return lastRunOfUpdate(stack.Status.LastUpdate)
}

// isLatest is false after a rollback to an earlier version of this controller, which patches
// the fields that it knows: it has left status.lastRun as it was. Each run that counts is in
// the history with the same time.
func isLatest(stack *v1.Stack, last *v1.LastRun) bool {
	latest := stack.Status.History.Latest()
	return latest == nil || last.EndedAt == nil || latest.LastReconciled.Unix() == last.EndedAt.Unix()
}

func lastRunOfUpdate(last *v1.LastUpdate) *v1.LastRun {
	if last == nil {
		return nil
	}
	return &v1.LastRun{
		ID: last.Name, Operation: run.OfUpdateType(last.Type).Operation, State: last.State, Generation: last.Generation, Digest: last.Digest,
		Reason: last.Reason, Message: last.Message, LastSuccessfulCommit: last.LastSuccessfulCommit, EndedAt: last.LastResyncTime.DeepCopy(),
	}
}

// KeepLastRun writes the last run of an earlier version of this controller to status.lastRun,
// from which it is read from then on. What the Pulumi operator has run, which is in no
// history, stays in status.lastUpdate alone.
func KeepLastRun(stack *v1.Stack) {
	if len(stack.Status.History) > 0 {
		stack.Status.LastRun = LastRun(stack)
	}
}

// setLastRun records how a run ended, and describes it in status.lastUpdate. status.lastRun is
// the run before, as the history has the new one already.
func setLastRun(stack *v1.Stack, record *v1.RunStatus, state v1.UpdateState, reason, message string, at time.Time) {
	last := &v1.LastRun{
		ID: record.ID, Operation: record.Operation, State: state, Generation: record.Generation, Digest: record.Digest,
		Reason: reason, Message: message, EndedAt: &metav1.Time{Time: at},
	}
	if state == v1.UpdateFailed && record.Policies != nil {
		last.Policies = record.Policies.Digest
	}
	if state == v1.UpdateSucceeded && run.KindOfRecord(record).ChangesResources {
		last.LastSuccessfulCommit = gitCommit(record.Revision, record.OriginRevision)
	} else if before := stack.Status.LastRun; before != nil {
		last.LastSuccessfulCommit = before.LastSuccessfulCommit
	}
	if before := stack.Status.LastRun; before != nil && (run.KindOfRecord(record).Proposes || recoversCorrection(stack, record)) {
		last.UpdateState = updateState(before)
	}
	stack.Status.LastRun = last
	stack.Status.LastUpdate = lastUpdate(stack, record)
}

// HasUpdated reports whether the last run was an update that has succeeded, and since then
// others were only proposed: the outputs are still those of that update.
func HasUpdated(stack *v1.Stack) bool {
	last := LastRun(stack)
	return last != nil && updateState(last) == v1.UpdateSucceeded
}

// updateState is how the update ended that the run is, or that came before it. Any other run
// leaves that open.
func updateState(last *v1.LastRun) v1.UpdateState {
	switch {
	case run.KindOf(last.Operation).Proposes, last.Operation == v1.OperationRecover:
		return last.UpdateState
	case last.Operation == v1.OperationUpdate:
		return last.State
	}
	return ""
}

// recoversCorrection reports whether the record is of a recovery from a correction of drift. That
// is no last run, so that the one before the recovery is an update that has succeeded.
func recoversCorrection(stack *v1.Stack, record *v1.RunStatus) bool {
	lost := stack.Status.Interrupted
	return record.Operation == v1.OperationRecover && len(lost) > 0 && lost[0].Drift != ""
}

// lastUpdate describes the last run in the terms of the Pulumi operator.
func lastUpdate(stack *v1.Stack, record *v1.RunStatus) *v1.LastUpdate {
	last := stack.Status.LastRun
	return &v1.LastUpdate{
		Generation:           last.Generation,
		Digest:               last.Digest,
		ReconcileRequest:     stack.Status.ObservedReconcileRequest,
		Name:                 last.ID,
		Type:                 run.KindOfRecord(record).UpdateType,
		State:                last.State,
		Reason:               last.Reason,
		Message:              last.Message,
		LastAttemptedCommit:  gitCommit(record.Revision, record.OriginRevision),
		LastSuccessfulCommit: last.LastSuccessfulCommit,
		LastResyncTime:       last.EndedAt.DeepCopy(),
	}
}

// gitCommit returns the git commit that a revision names, such as main@sha1:<40 hex>, or
// that of the origin that an artifact was built from. Other revisions name none: sha256
// is the digest of an OCI artifact or a bucket, unless it has the pointer that git gives.
func gitCommit(revisions ...string) string {
	const sha1Hex = 40
	for _, revision := range revisions {
		_, digest, _ := strings.Cut(revision, "sha1:")
		if len(digest) == sha1Hex {
			return digest
		}
	}
	return ""
}

// NeverRan reports that every ended run failed before Pulumi started or was a preview, so
// that there is nothing to destroy. A Stack moved here from the Pulumi operator, which
// writes no digest, has no run of ours and proves nothing. Our first run then records the
// earlier update in ProjectInfo (RecordRun), and the commit that succeeded there stays in
// the status.
func NeverRan(stack *v1.Stack) bool {
	last := LastRun(stack)
	succeeded := last != nil && last.LastSuccessfulCommit != ""
	return stack.Status.ProjectInfo == nil && stack.Status.LastAttemptedDigest != "" && !succeeded
}

// edited reports whether the last run was of another generation. A run of the Pulumi
// operator may have none.
func edited(stack *v1.Stack) bool {
	last := LastRun(stack)
	return last != nil && last.Generation != 0 && last.Generation != stack.Generation
}

// observeLastRun returns what is decided on of the last run.
func observeLastRun(stack *v1.Stack) decide.LastRun {
	seen := decide.LastRun{Digest: attemptedInputs(stack)}
	last := LastRun(stack)
	if last == nil {
		return seen
	}
	seen.Operation = last.Operation
	if latest := stack.Status.History.Latest(); latest != nil {
		seen.Revision = latest.Metadata["revision"]
	}
	seen.RunDigest = inputsDigest(last.Operation, last.Digest)
	seen.Succeeded = last.State == v1.UpdateSucceeded
	seen.Reason, seen.Message, seen.Policies = last.Reason, last.Message, last.Policies
	seen.Applied = last.Operation == v1.OperationRecover && updateState(last) == v1.UpdateSucceeded
	if last.EndedAt != nil {
		seen.EndedAt = last.EndedAt.Time
	}
	return seen
}
