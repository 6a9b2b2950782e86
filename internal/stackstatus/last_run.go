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

func setLastUpdate(stack *v1.Stack, record *v1.RunStatus, state v1.UpdateState, reason, message string, at time.Time) {
	kind := run.KindOfRecord(record)
	commit := gitCommit(record.Revision, record.OriginRevision)
	last := &v1.LastUpdate{
		Generation:          record.Generation,
		Digest:              record.Digest,
		ReconcileRequest:    stack.Status.ObservedReconcileRequest,
		Name:                record.ID,
		Type:                kind.UpdateType,
		State:               state,
		Reason:              reason,
		Message:             message,
		LastAttemptedCommit: commit,
		LastResyncTime:      &metav1.Time{Time: at},
	}
	if state == v1.UpdateSucceeded && kind.ChangesResources {
		last.LastSuccessfulCommit = commit
	} else if before := stack.Status.LastUpdate; before != nil {
		last.LastSuccessfulCommit = before.LastSuccessfulCommit
	}
	stack.Status.LastUpdate = last
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
