// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// Metadata keys of our own, next to those of Flux.
const (
	stackKey     = "stack"
	permalinkKey = "permalink"
	planKey      = "plan"
	diffKey      = "diff"
	// commentKey is what internal/notify sends in place of the message.
	commentKey = "comment"
)

// Metadata returns the metadata of an event for notification-controller, which drops
// keys that do not start with the API group of the object.
//
// Each event has a revision: commit status providers handle all failures, and one without
// a revision only reaches the log of the Alert.
func Metadata(stack *v1.Stack, e Event) map[string]string {
	revision, originRevision := e.Revision, e.OriginRevision
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
	if e.CommitStatus {
		set(eventv1.MetaCommitStatusKey, eventv1.MetaCommitStatusUpdateValue)
	}
	if comment := commentOf(stack, e); comment != "" {
		// notification-controller lists the metadata below the comment, and that has the rest.
		set(commentKey, comment)
		if e.Permalink != "" {
			set(permalinkKey, plan.Code(e.Permalink, len(e.Permalink))) // the program may have printed it
		}
		return metadata
	}
	set(permalinkKey, e.Permalink)
	set(planKey, e.Plan)
	set(diffKey, e.Diff)
	for key, count := range map[string]int{
		"created": e.Changes.Created, "updated": e.Changes.Updated, "replaced": e.Changes.Replaced, "deleted": e.Changes.Deleted,
		"retained": e.Changes.Retained,
	} {
		if count > 0 {
			set(key, strconv.Itoa(count))
		}
	}
	return metadata
}

// eventToken tells apart events with the same text about the same revision, such as two
// failures with a success in between. notification-controller would drop the second as a
// duplicate within five minutes. Each event follows a status write, so the resource
// version differs each time.
//
// A failure that repeats while nothing succeeds and nobody edits the Stack is such a
// duplicate, and keeps its token. After a failed run, or before the first, only a run can
// succeed. A comment on a pull request shows the last failure only: one that comes back after
// another is no duplicate there.
func eventToken(stack *v1.Stack, e Event) string {
	last := LastRun(stack)
	unbroken := last == nil || last.State == v1.UpdateFailed
	isComment := stack.Spec.Preview && HasChangeRequest(stack)
	if e.Type != corev1.EventTypeWarning || !unbroken || isComment && !e.Repeats {
		return stack.ResourceVersion
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", stack.Generation, lastSuccess(stack)))
	return hex.EncodeToString(sum[:8])
}

// lastSuccess identifies the last run in the history that succeeded.
func lastSuccess(stack *v1.Stack) string {
	for _, ended := range stack.Status.History { // newest first
		if ended.LastReconciledStatus == meta.ReconciliationSucceededReason {
			return fmt.Sprintf("%s %d %d", ended.Digest, ended.TotalReconciliations, ended.LastReconciled.Unix())
		}
	}
	return string(stack.UID)
}

// knownRevision returns the last known revision of the Stack, for events while its source
// has none: the applied one, or the one attempted after it.
func knownRevision(stack *v1.Stack) (revision, originRevision string) {
	status := &stack.Status
	attempted := status.LastAttemptedRevision
	if attempted == "" || attempted == status.LastAppliedRevision {
		return status.LastAppliedRevision, status.LastAppliedOriginRevision
	}
	for _, ended := range status.History { // a recovery may have no revision
		if ended.Metadata["revision"] == attempted {
			return attempted, ended.Metadata["originRevision"]
		}
	}
	return attempted, ""
}
