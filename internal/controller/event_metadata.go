// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strconv"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"

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
// and one without a revision comes to nobody but the log of the Alert. The token
// keeps apart what is told twice in the same words, as a second failure after a
// success in between: the same message about the same revision is otherwise taken
// for a duplicate. An event follows the write of what it tells of, and so the
// version of the object is another each time, and the same where it is repeated.
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
	set(eventv1.MetaTokenKey, stack.ResourceVersion)
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

// knownRevision is the last revision that the Stack is known to be about, for
// what happens while its source tells none: the applied one, or the one that
// failed after it.
func knownRevision(stack *v1.Stack) (revision, originRevision string) {
	status := &stack.Status
	applied := status.LastUpdate != nil && status.LastUpdate.State == v1.UpdateSucceeded && status.LastUpdate.Type != v1.UpdateTypePreview
	if status.LastAttemptedRevision == "" || (applied && status.LastAppliedRevision != "") {
		return status.LastAppliedRevision, status.LastAppliedOriginRevision
	}
	if last := status.History.Latest(); last != nil && last.Metadata["revision"] == status.LastAttemptedRevision {
		return status.LastAttemptedRevision, last.Metadata["originRevision"]
	}
	return status.LastAttemptedRevision, ""
}

// isChanged tells whether anything is not as it was before.
func isChanged(c run.Changes) bool {
	return c.Created+c.Updated+c.Replaced+c.Deleted > 0
}
