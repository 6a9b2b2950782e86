// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Published is what was written of a result beside the status.
type Published struct {
	OutputsSecret *v1.OutputsSecretStatus
	Inventory     *v1.InventoryStatus
	RunLog        *v1.RunLogStatus
	Preview       *v1.PreviewStatus
	Plan          PlanDetails
	Drift         DriftDetails
}

// PlanDetails is where the whole plan of a run is, and what is different from the one before.
type PlanDetails struct {
	ConfigMap, ContentDigest, Difference string
}

// Absorb absorbs the result of the recorded run into the status, with what was published of
// it, and drops the record.
func Absorb(stack *v1.Stack, result *run.Result, beside Published) {
	stack.Status.OutputsSecret, stack.Status.Inventory = beside.OutputsSecret, beside.Inventory
	stack.Status.RunLog, stack.Status.Preview = beside.RunLog, beside.Preview
	record := stack.Status.Run
	AbsorbResult(stack, result)
	recordDetails(stack, record, beside.Plan)
	recordDriftDetails(stack, result, beside.Drift)
}

// AbsorbResult absorbs what the status itself says of a result, and drops the record.
func AbsorbResult(stack *v1.Stack, result *run.Result) {
	record := stack.Status.Run
	kind := run.KindOfRecord(record)
	stack.Status.Run = nil
	if !kind.Reconciles {
		absorbBeside(stack, record, result)
		return
	}
	absorbPolicies(stack, record, result)
	stack.Status.LastRun = LastRun(stack)
	record.Emptied = record.Emptied || result.Emptied
	stack.Status.UnknownCreates = unknownCreates(stack, record, result)
	if kind.ChangesState {
		absorbFacts(stack, record, result)
	}
	if record.Operation == v1.OperationRecover {
		absorbRecovery(stack, record, result)
		return
	}
	resetFailuresOnChange(stack, record)
	if IsProposal(record, result) {
		if record.Drift != "" {
			absorbOtherPlan(stack, record, result) // which leaves the last run as it is, and so the history
			return
		}
		addHistory(stack, record, result, v1.ProposedStatus)
		absorbProposal(stack, record, result)
		return
	}
	if isCorrection(record) && result.Outcome != run.Succeeded {
		absorbFailedCorrection(stack, record, result)
		return
	}
	reason := result.Outcome.Reason(kind)
	if result.Refreshed {
		leaveUnfinished(stack, record)
	}
	if result.Outcome != run.Succeeded && wasCancelled(stack, record) {
		reason = v1.CancelRequestedReason
	}
	addHistory(stack, record, result, reason)
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
	setLastRun(stack, record, v1.UpdateFailed, reason, result.Message, result.EndedAt)
	stack.Status.LastUpdate.Permalink = result.Permalink
	if result.Interrupted {
		addInterrupted(stack, record, result.EndedAt)
	}
	markEnded(stack, record, endedText(record, reason), func() { markRunFailed(stack, reason, result.Message) })
}

// absorbBeside absorbs the result of a run that is no reconcile of the Stack.
func absorbBeside(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	switch kind := run.KindOfRecord(record); {
	case kind.ReadsOutputs:
		absorbOutputs(stack, record)
	case record.Operation == v1.OperationCheckDrift:
		absorbCheck(stack, record, result)
	case record.Operation == v1.OperationCheckPolicies:
		absorbPolicyCheck(stack, record, result)
	case kind.OfDrift:
		absorbDriftProposal(stack, record, result)
	}
}

// markRunFailed marks how a run failed, or that it came too late for its artifact.
func markRunFailed(stack *v1.Stack, reason, message string) {
	if reason == v1.ArtifactGoneReason {
		MarkFetching(stack, reason, message)
		return
	}
	MarkFailed(stack, reason, message)
}

// Classify returns the result of a run whose artifact was gone, either as a failure or as a
// run that came too late, and one of something else than the recorded run, or that should
// have a plan and has none, as a failure. Any other stays as it is, except that it has violations
// only of packs that the run had.
func Classify(stack *v1.Stack, record *v1.RunStatus, result *run.Result) *run.Result {
	result = withoutForeignViolations(record, result)
	if isOfAnother(record, result) {
		classified := *result
		classified.Outcome, classified.Message, classified.Plan = run.Failed, oldPodText(record), nil
		return &classified
	}
	if IsProposal(record, result) && result.Plan == nil {
		classified := *result
		classified.Outcome, classified.Message = run.Failed, "the run has reported no plan of what it would do"
		return &classified
	}
	if result.Outcome != run.ArtifactGone || !run.KindOfRecord(record).Reconciles {
		return result
	}
	classified := *result
	if decide.IsFirstMiss(observeLastRun(stack), inputsOf(record), result) {
		classified.Message = "the artifact was replaced before it was fetched; the current artifact runs next: " + result.Message
	} else {
		classified.Outcome = run.ArtifactFailed
	}
	return &classified
}

// isOfAnother reports whether the pod of an earlier version has done something else than the
// recorded run, which such a pod does not know. Only what Pulumi may have said is in question.
func isOfAnother(record *v1.RunStatus, result *run.Result) bool {
	if run.KindOfRecord(record).InAllVersions && record.Approved == "" && record.Policies == nil {
		return false
	}
	ofPulumi := result.Outcome == run.Succeeded || result.Outcome == run.Failed || result.Outcome == run.PlanChanged
	return ofPulumi && (result.Operation != record.Operation || result.Approved != record.Approved)
}

// oldPodText says what to do about the pod of an earlier version.
func oldPodText(record *v1.RunStatus) string {
	what := "the operation " + string(record.Operation)
	if record.Approved != "" {
		what = "an approved " + string(record.Operation)
	}
	if record.Policies != nil {
		what += " with policy packs"
	}
	return fmt.Sprintf("the pod of the run has a version of pulumi-controller that is too old for %s. It comes from the image in "+
		"--runner-image, or else of the controller's own pod: use the version of the controller there, and a tag that does not move", what)
}

func endedText(record *v1.RunStatus, reason string) string {
	return fmt.Sprintf("Run %s (%s) ended with %s", record.ID, record.Operation, reason)
}

// resetFailuresOnChange resets the number of failures if the inputs or the spec of the run differ
// from those of the last. A recovery does not count as a run of inputs.
func resetFailuresOnChange(stack *v1.Stack, record *v1.RunStatus) {
	last := LastRun(stack)
	changed := last != nil && last.Generation != 0 && last.Generation != record.Generation
	if record.Operation == v1.OperationDestroy && last != nil && last.Operation == v1.OperationDestroy {
		changed = changed || (last.Digest != "" && last.Digest != record.Digest)
	}
	if run.KindOfRecord(record).RunsInputs {
		before := attemptedInputs(stack)
		stack.Status.LastAttemptedDigest = attemptedDigest(record)
		changed = changed || before != inputsDigest(record.Operation, stack.Status.LastAttemptedDigest)
	}
	if changed {
		stack.Status.Failures = 0
	}
}

// attemptedDigest is empty for a destroy: with a digest, a destroy that was stopped
// before it knew the project would prove that no run ever got as far as Pulumi
// (NeverRan).
func attemptedDigest(record *v1.RunStatus) string {
	if planned(record) == v1.OperationDestroy {
		return ""
	}
	return record.Digest
}

// absorbRecovery absorbs the result of a recovery. It ran no inputs, so those run next.
func absorbRecovery(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	resetFailuresOnChange(stack, record)
	addHistory(stack, record, result, recoveryReason(stack, record, result))
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
			addInterrupted(stack, record, result.EndedAt)
		}
		reason, message := result.Outcome.Reason(run.KindOfRecord(record)), result.Message+wayOut(stack)
		setLastRun(stack, record, v1.UpdateFailed, reason, message, result.EndedAt)
		markEnded(stack, record, endedText(record, reason), func() { markRunFailed(stack, reason, message) })
		return
	}
	if stack.Status.Failures > 0 && len(stack.Status.Interrupted) > 0 {
		// The back-off for the interrupted run depends on how often that was interrupted,
		// not on how often its recovery failed.
		stack.Status.Failures = stack.Status.Interrupted[0].Failures
	}
	recordDestroyed(stack, result)
	setLastRun(stack, record, v1.UpdateSucceeded, "", interruptedMessage(stack.Status.LastRun), result.EndedAt)
	stack.Status.Interrupted = nil
	if len(result.Forgotten) > 0 {
		stack.Status.LastRun.UpdateState = "" // an update has to create them
	}
	MarkWaiting(stack, "Recovered from an interrupted run")
}

// interruptedMessage returns how the run failed that was recovered from, if that is known: one
// that was killed left no message.
func interruptedMessage(last *v1.LastRun) string {
	if last == nil || last.State != v1.UpdateFailed || last.Operation == v1.OperationRecover || last.Reason == v1.RunInterruptedReason {
		return ""
	}
	return last.Message
}

func absorbSuccess(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	stack.Status.Failures = 0
	message := strings.Join(result.Warnings, "; ")
	if record.Operation == v1.OperationPreview {
		message = previewText(record.Revision, result.Changes)
		recordPreviewed(stack, record, result)
	}
	setLastRun(stack, record, v1.UpdateSucceeded, "", message, result.EndedAt)
	stack.Status.LastUpdate.Permalink = result.Permalink
	recordApplied(stack, record)
	driftUpdated(stack, record)
	stack.Status.RefreshPending = false // while it is set, every run refreshes
	if record.Operation == v1.OperationDestroy {
		MarkWaiting(stack, "Destroyed the stack; releasing the Stack")
		return
	}
	if record.Operation == v1.OperationPreview {
		// What the status says about the applied state does not change.
		markEnded(stack, record, message, func() { markPreviewed(stack, message) })
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
		MarkWaiting(stack, fmt.Sprintf("%s at generation %d; generation %d is next", ended, record.Generation, current))
	}
}
