// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A correction is an update that undoes drift. It follows once from a check on schedule or on
// request, and not from the check after a correction: what a provider reports again each
// time would be corrected without end.

const (
	notUndone = "An update has not undone the drift, and none follows for it again. " +
		"To have it tried again, set the annotation " + v1.CheckDriftAnnotation + " to a new value"
	noProposal = "Nothing could be proposed that undoes the drift: "
	notAgain   = "The plan that undoes the drift could not be made again: "
	// afterNextCheck ends the message about a correction that was not tried.
	afterNextCheck = ". It is tried again after the next check for drift"
	otherDrift     = "After an update that undoes drift, other resources have drifted. They are corrected after the next check for drift"
	noneTargeted   = "None of the resources that have drifted is in spec.targets, so that no update follows"
)

// driftMode returns what follows from drift.
func driftMode(stack *v1.Stack) v1.DriftMode {
	if stack.Spec.Drift == nil {
		return v1.DriftReport
	}
	return cmp.Or(stack.Spec.Drift.Mode, v1.DriftReport)
}

// observeCorrection returns what is to follow from the drift that is known. If that is outdated, as
// it was found with other ignore rules or targets than those of the spec, or was only to be reported, a
// check has to say first what is drift by now.
func observeCorrection(stack *v1.Stack, known v1.DriftStatus) (c decide.Correction, outdated bool) {
	if driftMode(stack) != v1.DriftReport && known.Digest != "" && known.Result == v1.DriftDetectedReason && known.SpecDigest == "" && known.AttemptedDigest == "" {
		return c, true
	}
	if !isCorrectable(stack, known) {
		return c, false
	}
	if known.SpecDigest != driftSpecDigest(stack) {
		return c, true
	}
	c = decide.Correction{Drift: known.Digest, NeedsPlan: driftMode(stack) == v1.DriftPropose || requirement(stack) != v1.ApprovalNever}
	if p := openPlan(stack); p != nil && p.Drift == known.Digest {
		c.Plan = observePlan(stack, p)
	}
	if again := known.Retry; again != nil {
		c.Failures, c.Reason, c.LastAt = again.Failures, again.Reason, again.LastAttemptAt.Time
	}
	return c, false
}

// isCorrectable reports whether the drift is to be corrected, and was not yet.
func isCorrectable(stack *v1.Stack, known v1.DriftStatus) bool {
	return driftMode(stack) != v1.DriftReport && known.Result == v1.DriftDetectedReason && known.AttemptedDigest != known.Digest &&
		len(known.Targets) > 0 && !known.CheckPending
}

// planCorrection records what is to be corrected of the drift that a check has found.
func planCorrection(stack *v1.Stack, record *v1.RunStatus, before v1.DriftStatus, known *v1.DriftStatus, found run.Drift) {
	if driftMode(stack) == v1.DriftReport {
		dropDriftPlan(stack, "")
		return
	}
	dropDriftPlan(stack, known.Digest)
	known.SpecDigest = checkedSpecDigest(stack, record)
	known.Targets, known.TargetDependents, known.Message = correctionTargets(stack, found)
	switch {
	case len(known.Targets) == 0:
		known.Message = cmp.Or(known.Message, noneTargeted)
	case record.CheckRequest != "":
	case before.AttemptedDigest == known.Digest, before.CheckPending && isLeft(found, before.Targets):
		known.AttemptedDigest, known.Message = known.Digest, notUndone
		if before.Result == known.Result {
			known.Message = cmp.Or(before.Message, notUndone) // such as why the update failed
		}
	case before.CheckPending && known.Changed+known.Deleted >= before.Changed+before.Deleted:
		known.Targets, known.Message = nil, otherDrift // or two resources could take turns without end
	}
}

// isLeft reports whether one of the resources has drifted.
func isLeft(found run.Drift, targets []string) bool {
	return slices.ContainsFunc(found.Found.Steps, func(step plan.Step) bool { return slices.Contains(targets, step.URN) })
}

// correctionTargets returns the resources that a correction is limited to, whether it includes
// what depends on them, and which it leaves alone. Pulumi would take a URN with a * for a pattern,
// and one that was masked or cut for no resource. What is created again needs its dependents
// to be targets as well, which spec.targets may exclude.
func correctionTargets(stack *v1.Stack, found run.Drift) (targets []string, dependents bool, message string) {
	limited := len(stack.Spec.Targets) > 0 && !stack.Spec.TargetDependents
	var urns []string
	unnamed, recreated := 0, 0
	for _, step := range found.Found.Steps {
		switch {
		case step.Digest != "" || strings.Contains(step.URN, "*"):
			unnamed++
		case limited && run.Recreates(step):
			recreated++
		default:
			urns = append(urns, step.URN)
		}
	}
	var reasons []string
	if unnamed > 0 {
		reasons = append(reasons, fmt.Sprintf("resources with a name that cannot be a target (%d)", unnamed))
	}
	if recreated > 0 {
		reasons = append(reasons, fmt.Sprintf("resources that would be created again, as spec.targetDependents is not set (%d)", recreated))
	}
	if len(reasons) > 0 {
		message = "Not all drift is undone: this leaves out " + strings.Join(reasons, " and ")
	}
	return drift.Targets(urns, stack.Spec.Targets), found.Recreates() && !limited, message
}

// dropDriftPlan drops a plan that undoes other drift.
func dropDriftPlan(stack *v1.Stack, digest string) {
	if p := openPlan(stack); p != nil && p.Drift != "" && p.Drift != digest {
		stack.Status.Plan = nil
	}
}

// attemptCorrection records that the run corrects the drift, before it starts.
func attemptCorrection(stack *v1.Stack, record *v1.RunStatus) {
	if known := stack.Status.Drift; known != nil && isCorrection(record) {
		known.AttemptedDigest, known.Message, known.Proposed = record.Drift, "", nil
	}
}

// isCorrection reports whether the run is an update that undoes drift.
func isCorrection(record *v1.RunStatus) bool {
	return record.Drift != "" && run.KindOfRecord(record).ChangesResources
}

// dropCorrection records that a correction has not started, or was stopped with the controller
// or for an edit: it is decided on again.
func dropCorrection(stack *v1.Stack) {
	if known := stack.Status.Drift; known != nil {
		known.AttemptedDigest = ""
	}
	reopenPlan(stack)
}

// postponeCorrection has a correction that was not tried follow from the next check, as it could
// be of no use before.
func postponeCorrection(stack *v1.Stack, message string) {
	if known := stack.Status.Drift; known != nil {
		known.AttemptedDigest, known.Targets, known.Retry = "", nil, nil
		known.Message = bounded.Text(message, maxDriftMessage-len(afterNextCheck)) + afterNextCheck
	}
	reopenPlan(stack)
}

// reopenPlan has a plan wait again whose correction was not tried.
func reopenPlan(stack *v1.Stack) {
	if p := openPlan(stack); p != nil && p.Drift != "" {
		p.State, p.ApprovedAt, p.ApprovedBy, p.Message = v1.PlanProposed, nil, "", ""
	}
}

// markCorrectionPlan records whether the plan that undoes drift is rejected. The Stack is in sync
// either way, and no other mark says so.
func markCorrectionPlan(stack *v1.Stack) {
	p := openPlan(stack)
	switch {
	case p == nil || p.Drift == "":
	case stack.Annotations[v1.RejectAnnotation] == p.Digest:
		rejectPlan(stack, p)
	case p.State == v1.PlanRejected:
		reopenPlan(stack)
	}
}

// absorbFailedCorrection absorbs the end of a correction that has not succeeded. The last run
// stays the update before it, whose inputs are applied: a retry would be an update of all
// resources. What Pulumi has begun is recovered from, and a check finds what is left of the drift.
func absorbFailedCorrection(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	why := cmp.Or(result.Message, string(result.Outcome))
	addToLatest(stack, record, result)
	if result.Interrupted {
		addInterrupted(stack, record, result.EndedAt)
	}
	if result.Interrupted || result.Refreshed {
		leaveUnfinished(stack, record)
	}
	switch cancelled := wasCancelled(stack, record); {
	case cancelled:
		failCorrection(stack, "The update that undoes the drift was cancelled on request")
	case result.Interrupted:
		postponeCorrection(stack, "The update that undoes the drift was interrupted: "+why)
	case result.Outcome == run.Cancelled:
		dropCorrection(stack)
	case mayRunLater(result.Outcome):
		retryCorrection(stack, "The update that undoes the drift could not run: "+why, result.Outcome.Effect().Reason, result.EndedAt)
	case !isTried(result.Outcome):
		postponeCorrection(stack, "The update that undoes the drift could not run: "+why)
	default:
		failCorrection(stack, "The update that undoes the drift failed: "+why)
	}
	markCorrectionEnded(stack, record, endedText(record, result.Outcome.Reason(run.KindOfRecord(record))))
}

// failCorrection records that a correction was tried, and has the drift checked that is left.
func failCorrection(stack *v1.Stack, message string) {
	if known := stack.Status.Drift; known != nil {
		known.CheckPending, known.Retry = true, nil
		known.Message = bounded.Text(message, maxDriftMessage)
	}
}

// isTried reports whether a run with the outcome has tried what it was to do: Pulumi or the
// program has failed, and not what it takes to run them.
func isTried(outcome run.Outcome) bool { return outcome.Effect().Reason == "" }

// markInterruptedCorrection gives up on a correction whose end nobody saw.
func markInterruptedCorrection(stack *v1.Stack, lost *v1.RunStatus, message string, now time.Time) {
	addInterrupted(stack, lost, now)
	leaveUnfinished(stack, lost)
	if wasCancelled(stack, lost) {
		failCorrection(stack, "The update that undoes the drift was cancelled on request")
	} else {
		postponeCorrection(stack, "The update that undoes the drift was interrupted: "+message)
	}
	markCorrectionEnded(stack, lost, message)
}

// markCorrectionEnded marks how a correction ended. The inputs stay applied, unless there is
// something to recover from first.
func markCorrectionEnded(stack *v1.Stack, record *v1.RunStatus, ended string) {
	revision, origin := stack.Status.LastAppliedRevision, stack.Status.LastAppliedOriginRevision
	markEnded(stack, record, ended, func() {
		if len(stack.Status.Interrupted) > 0 || len(stack.Status.UnknownCreates) > 0 {
			MarkWaiting(stack, ended)
			return
		}
		markInSync(stack, revision, origin)
	})
}

// driftUpdated has the drift checked after an update that may have undone it, and corrected
// again after one of other inputs, with which that may succeed.
func driftUpdated(stack *v1.Stack, record *v1.RunStatus) {
	known := stack.Status.Drift
	if known == nil || (known.Digest == "" && known.Unfinished == nil) || record.Operation != v1.OperationUpdate {
		return
	}
	if record.Drift != "" {
		known.Retry = nil
	}
	known.CheckPending = known.CheckPending || record.Drift != "" || stack.Spec.Refresh || stack.Status.RefreshPending || known.Unfinished != nil
	finish(stack, record)
	if record.Drift == "" && record.Digest != stack.Status.LastAppliedDigest {
		known.AttemptedDigest, known.Message = "", ""
	}
}

// absorbDriftProposal absorbs the result of a run that has proposed to undo drift. One that was
// stopped with the controller is repeated. A plan that could not be made again still waits.
func absorbDriftProposal(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	why, p := cmp.Or(result.Message, string(result.Outcome)), openPlan(stack)
	switch {
	case result.Outcome == run.Succeeded:
		recordPlan(stack, record, result)
		endRetry(stack)
	case result.Outcome == run.Cancelled && !wasCancelled(stack, record):
	case mayRunLater(result.Outcome) && !wasCancelled(stack, record):
		retryCorrection(stack, notProposed(stack, record)+why, result.Outcome.Effect().Reason, result.EndedAt)
	case p != nil && p.Drift == record.Drift:
		postponeCorrection(stack, notProposed(stack, record)+why)
	case wasCancelled(stack, record) || isTried(result.Outcome):
		failProposal(stack, record, why)
	default:
		postponeCorrection(stack, noProposal+why)
	}
}

// failProposal records why nothing could be proposed.
func failProposal(stack *v1.Stack, record *v1.RunStatus, why string) {
	if known := stack.Status.Drift; known != nil {
		known.AttemptedDigest, known.Retry = record.Drift, nil
		known.Message = bounded.Text(noProposal+why, maxDriftMessage)
	}
}

// absorbOtherPlan absorbs the end of a correction that has found another plan than the approved
// one, and changed nothing. That is proposed. One that needs no approval would find another one
// each time.
func absorbOtherPlan(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	recordPlan(stack, record, result)
	if by, _ := approval(stack, stack.Status.Plan); by.nobody {
		stack.Status.Plan = nil
		failProposal(stack, record, "the plan was another one when it was made again")
	} else if known := stack.Status.Drift; known != nil {
		known.AttemptedDigest = ""
	}
	revision, origin := stack.Status.LastAppliedRevision, stack.Status.LastAppliedOriginRevision
	markEnded(stack, record, "Proposed: "+proposalTextOf(stack), func() { markInSync(stack, revision, origin) })
}

// proposalTextOf describes the plan, if there is one.
func proposalTextOf(stack *v1.Stack) string {
	if p := stack.Status.Plan; p != nil {
		return proposalText(p)
	}
	return "nothing"
}
