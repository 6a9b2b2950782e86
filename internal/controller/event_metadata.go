// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Keys of our own in the metadata of an event, beside those of Flux.
const (
	stackKey     = "stack"
	permalinkKey = "permalink"
)

// eventMetadata is what notification-controller is told beside the message. It
// drops every key that has not the group of the object before it.
//
// Each event has a revision: the providers of commit statuses take all failures,
// and one without a revision comes to nobody but the log of the Alert.
func eventMetadata(stack *v1.Stack, e notice) map[string]string {
	revision, originRevision := e.revision, e.originRevision
	if revision == "" {
		revision, originRevision = knownRevision(stack)
	}
	metadata := map[string]string{}
	set := func(key, value string) {
		if value != "" {
			metadata[v1.GroupVersion.Group+"/"+key] = value
		}
	}
	set(eventv1.MetaRevisionKey, revision)
	set(eventv1.MetaOriginRevisionKey, originRevision)
	set(eventv1.MetaTokenKey, eventToken(stack, e))
	set(stackKey, stack.Spec.Stack)
	set(permalinkKey, e.permalink)
	if e.commitStatus {
		set(eventv1.MetaCommitStatusKey, eventv1.MetaCommitStatusUpdateValue)
	}
	for key, count := range map[string]int{
		"created": e.changes.Created, "updated": e.changes.Updated, "replaced": e.changes.Replaced, "deleted": e.changes.Deleted,
	} {
		if count > 0 {
			set(key, strconv.Itoa(count))
		}
	}
	return metadata
}

// eventToken keeps apart what is told twice in the same words about the same revision,
// as a second failure after a success in between, which would otherwise be taken
// for a duplicate: notification-controller hands the same on once in five minutes.
// An event follows the write of what it tells of, so that the version of the object
// is another each time.
//
// A failure that is repeated while nothing succeeds and nobody edits the Stack is
// such a duplicate. Once a run has failed, or while there was none, nothing but a run
// succeeds.
func eventToken(stack *v1.Stack, e notice) string {
	last := stack.Status.LastUpdate
	unbroken := last == nil || last.State == v1.UpdateFailed
	if e.kind != corev1.EventTypeWarning || !unbroken {
		return stack.ResourceVersion
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", stack.Generation, lastSuccess(stack)))
	return hex.EncodeToString(sum[:8])
}

// lastSuccess names the last run that succeeded, among those that are known.
func lastSuccess(stack *v1.Stack) string {
	for _, ended := range stack.Status.History { // the last is the first
		if ended.LastReconciledStatus == meta.ReconciliationSucceededReason {
			return fmt.Sprintf("%s %d %d", ended.Digest, ended.TotalReconciliations, ended.LastReconciled.Unix())
		}
	}
	return string(stack.UID)
}

// knownRevision is the last revision that the Stack is known to be about, for
// what happens while its source tells none: the applied one, or the one that was
// looked at after it.
func knownRevision(stack *v1.Stack) (revision, originRevision string) {
	status := &stack.Status
	attempted := status.LastAttemptedRevision
	if attempted == "" || attempted == status.LastAppliedRevision {
		return status.LastAppliedRevision, status.LastAppliedOriginRevision
	}
	for _, ended := range status.History { // a recovery may be of none
		if ended.Metadata["revision"] == attempted {
			return attempted, ended.Metadata["originRevision"]
		}
	}
	return attempted, ""
}

// isChanged tells whether anything is not as it was before.
func isChanged(c run.Changes) bool {
	return c.Created+c.Updated+c.Replaced+c.Deleted > 0
}
