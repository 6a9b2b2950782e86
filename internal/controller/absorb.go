// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The functions in this file absorb the result of a run into the status of its Stack.
// Like those of status.go, they modify only the object.

// published is what was written of a result beside the status.
type published struct {
	OutputsSecret *v1.OutputsSecretStatus
	Inventory     *v1.InventoryStatus
	RunLog        *v1.RunLogStatus
	Preview       *v1.PreviewStatus
}

// absorb absorbs the result of the recorded run into the status, with what was published of
// it, and drops the record.
func absorb(stack *v1.Stack, result *run.Result, beside published) {
	stack.Status.OutputsSecret, stack.Status.Inventory = beside.OutputsSecret, beside.Inventory
	stack.Status.RunLog, stack.Status.Preview = beside.RunLog, beside.Preview
	absorbResult(stack, result)
}

func absorbResult(stack *v1.Stack, result *run.Result) {
	record := stack.Status.Run
	kind := run.KindOfRecord(record)
	stack.Status.Run = nil
	if !kind.Reconciles {
		if kind.ReadsOutputs {
			absorbOutputs(stack, record)
		}
		return
	}
	record.Emptied = record.Emptied || result.Emptied
	stack.Status.UnknownCreates = unknownCreates(stack, record, result)
	if kind.ChangesState {
		absorbFacts(stack, record, result)
	}
	if record.Operation == v1.OperationRecover {
		absorbRecovery(stack, record, result)
		return
	}
	reason := result.Outcome.Reason(kind)
	if result.Outcome != run.Succeeded && wasCancelled(stack, record) {
		reason = v1.CancelRequestedReason
	}
	countAnew(stack, record)
	noteHistory(stack, record, result, reason)
	if result.Outcome == run.Succeeded {
		absorbSuccess(stack, record, result)
		return
	}
	if wasCancelled(stack, record) {
		absorbCancelled(stack, record, result)
		return
	}
	if result.Outcome.Effect().Fails {
		stack.Status.Failures++
	}
	setLastUpdate(stack, record, v1.UpdateFailed, reason, result.Message, result.EndedAt)
	stack.Status.LastUpdate.Permalink = result.Permalink
	if result.Interrupted {
		interrupt(stack, record, result.EndedAt)
	}
	markEnded(stack, record, endedText(record, reason), func() { markRunFailed(stack, reason, result.Message) })
}

// markRunFailed marks how a run failed, or that it came too late for its artifact.
func markRunFailed(stack *v1.Stack, reason, message string) {
	if reason == v1.ArtifactGoneReason {
		markFetching(stack, reason, message)
		return
	}
	markFailed(stack, reason, message)
}

// sortGone returns the result of a run whose artifact was gone, either as a failure or as a
// run that came too late.
func sortGone(stack *v1.Stack, record *v1.RunStatus, result *run.Result) *run.Result {
	if result.Outcome != run.ArtifactGone || !run.KindOfRecord(record).Reconciles {
		return result
	}
	told := *result
	if decide.IsFirstMiss(lastRun(stack), record.Digest, result) {
		told.Message = "the artifact was deleted, as when its source moves on, and what the source offers now is next: " + result.Message
	} else {
		told.Outcome = run.ArtifactFailed
	}
	return &told
}

func endedText(record *v1.RunStatus, reason string) string {
	return fmt.Sprintf("Run %s (%s) ended with %s", record.ID, record.Operation, reason)
}

// countAnew resets the number of failures if the inputs or the spec of the run differ
// from those of the last. A recovery does not count as a run of inputs.
func countAnew(stack *v1.Stack, record *v1.RunStatus) {
	last := stack.Status.LastUpdate
	anew := last != nil && last.Generation != 0 && last.Generation != record.Generation
	if record.Operation == v1.OperationDestroy && last != nil && last.Type == v1.UpdateTypeDestroy {
		anew = anew || (last.Digest != "" && last.Digest != record.Digest)
	}
	if run.KindOfRecord(record).RunsInputs {
		attempted := attemptedDigest(record)
		anew = anew || stack.Status.LastAttemptedDigest != attempted
		stack.Status.LastAttemptedDigest = attempted
	}
	if anew {
		stack.Status.Failures = 0
	}
}

// attemptedDigest is empty for a destroy: with a digest, a destroy that was stopped
// before it knew the project would prove that no run ever got as far as Pulumi
// (neverRan).
func attemptedDigest(record *v1.RunStatus) string {
	if record.Operation == v1.OperationDestroy {
		return ""
	}
	return record.Digest
}

// absorbFacts records what a run has found out about the stack. A preview is skipped: its
// changes were not made, and knowing the project does not mean that this Stack ever
// created anything to destroy.
func absorbFacts(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	absorbProject(stack, result)
	if result.Outputs != nil || result.OutputsMissed {
		stack.Status.Outputs = shownOutputs(result)
	}
	switch {
	case record.Operation == v1.OperationRecover || !hasCounted(stack, result):
	case result.Changes.Unknown:
		stack.Status.Resources = nil
	default:
		stack.Status.Resources = &v1.ResourcesStatus{Total: int32(total(result.Changes)), ResourceChanges: changes(result.Changes)}
	}
}

// absorbProject records the project and the backend of the stack. A run that did not get
// as far as finding the stack keeps the known backend.
func absorbProject(stack *v1.Stack, result *run.Result) {
	if result.Backend != "" || result.Outcome == run.Succeeded {
		foundStack(stack)
	}
	if result.Project.Name == "" {
		return
	}
	info := &v1.ProjectInfo{Name: result.Project.Name, Runtime: result.Project.Runtime, Backend: result.Backend}
	if before := stack.Status.ProjectInfo; before != nil {
		info.Backend = cmp.Or(info.Backend, before.Backend)
		info.UpdatedElsewhere, info.LockedElsewhere = before.UpdatedElsewhere, before.LockedElsewhere
	}
	noteLock(info, result)
	stack.Status.ProjectInfo = info
}

// hasCounted is false for a run that did not get as far as counting resources. The
// previous count still holds.
func hasCounted(stack *v1.Stack, result *run.Result) bool {
	if result.Outcome != run.Succeeded && result.Changes == (run.Changes{}) && stack.Status.Resources != nil {
		return false
	}
	switch result.Outcome.Effect().Counted {
	case run.CountedIfAny:
		return result.Changes != (run.Changes{})
	case run.CountedNever:
		return false
	}
	return true
}

// absorbRecovery absorbs the result of a recovery. It ran no inputs, so those run next.
func absorbRecovery(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	countAnew(stack, record)
	noteHistory(stack, record, result, recoveryReason(stack, record, result))
	if result.Outcome != run.Succeeded && wasCancelled(stack, record) {
		absorbCancelled(stack, record, result)
		return
	}
	if result.Outcome != run.Succeeded {
		if result.Outcome.Effect().Fails {
			// The back-off for an unavailable backend depends on it.
			stack.Status.Failures++
		}
		if result.Interrupted {
			interrupt(stack, record, result.EndedAt)
		}
		reason, message := result.Outcome.Reason(run.KindOfRecord(record)), result.Message+wayOut(stack)
		setLastUpdate(stack, record, v1.UpdateFailed, reason, message, result.EndedAt)
		markEnded(stack, record, endedText(record, reason), func() { markRunFailed(stack, reason, message) })
		return
	}
	if stack.Status.Failures > 0 && len(stack.Status.Interrupted) > 0 {
		// The back-off for the interrupted run depends on how often that was interrupted,
		// not on how often its recovery failed.
		stack.Status.Failures = stack.Status.Interrupted[0].Failures
	}
	noteDestroyed(stack, result)
	stack.Status.Interrupted = nil
	setLastUpdate(stack, record, v1.UpdateSucceeded, "", interruptedMessage(stack.Status.LastUpdate), result.EndedAt)
	markWaiting(stack, "Recovered from an interrupted run")
}

// interruptedMessage returns how the run failed that was recovered from, if it told that: one
// that was killed did not.
func interruptedMessage(last *v1.LastUpdate) string {
	if last == nil || last.State != v1.UpdateFailed || last.Type == v1.UpdateTypeRefresh || last.Reason == v1.RunInterruptedReason {
		return ""
	}
	return last.Message
}

// unknownCreates returns the creations of unknown outcome after a run. Only a recovery,
// which knows those of earlier runs, can remove any.
func unknownCreates(stack *v1.Stack, record *v1.RunStatus, result *run.Result) []string {
	if record.Operation == v1.OperationRecover && result.Outcome == run.Succeeded {
		return result.UnknownCreates
	}
	return unionOf(stack.Status.UnknownCreates, result.UnknownCreates)
}

func absorbSuccess(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	stack.Status.Failures = 0
	setLastUpdate(stack, record, v1.UpdateSucceeded, "", strings.Join(result.Warnings, "; "), result.EndedAt)
	stack.Status.LastUpdate.Permalink = result.Permalink
	stack.Status.RefreshPending = false // while it is set, every run refreshes
	if record.Operation == v1.OperationDestroy {
		markWaiting(stack, "Destroyed; letting go of the object")
		return
	}
	if record.Operation == v1.OperationPreview {
		absorbPreview(stack, record, result)
		return
	}
	stack.Status.LastAppliedDigest = record.Digest
	stack.Status.LastAppliedRevision = record.Revision
	stack.Status.LastAppliedOriginRevision = record.OriginRevision
	markEnded(stack, record, "Applied revision "+record.Revision, func() {
		markApplied(stack, record.Revision, record.OriginRevision)
	})
}

// markEnded marks how a run ended. If the spec was edited in the meantime, the conditions
// must not speak for a generation that nothing has looked at yet: they say that it is
// next. A Stack that was suspended in the meantime has no next run, and keeps the
// conditions of the generation that ran, as it does when no run is in flight.
func markEnded(stack *v1.Stack, record *v1.RunStatus, ended string, mark func()) {
	current := stack.Generation
	switch {
	case current == record.Generation:
		mark()
	case stack.Spec.Suspend:
		stack.Generation = record.Generation
		mark()
		stack.Generation = current
	default:
		markWaiting(stack, fmt.Sprintf("%s at generation %d; generation %d is next", ended, record.Generation, current))
	}
}

// absorbPreview records the result of a preview. What the status says about the applied
// state does not change.
func absorbPreview(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	message := previewText(record.Revision, result.Changes)
	stack.Status.LastUpdate.Message = message
	markEnded(stack, record, message, func() { markPreviewed(stack, message) })
}

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

func changes(c run.Changes) v1.ResourceChanges {
	return v1.ResourceChanges{
		Created:  int32(c.Created),
		Updated:  int32(c.Updated),
		Deleted:  int32(c.Deleted),
		Replaced: int32(c.Replaced),
		Retained: int32(c.Retained),
		Same:     int32(c.Same),
	}
}

// total returns how many resources there are after the changes.
func total(c run.Changes) int {
	return c.Created + c.Updated + c.Replaced + c.Same
}
