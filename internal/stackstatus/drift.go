// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxDriftMessage bounds the message of status.drift, in bytes.
const maxDriftMessage = 2048

// driftStatus returns what is known of drift, empty if nothing is.
func driftStatus(stack *v1.Stack) v1.DriftStatus {
	if known := stack.Status.Drift; known != nil {
		return *known.DeepCopy()
	}
	return v1.DriftStatus{}
}

// observeDrift returns what is decided on of drift.
func observeDrift(stack *v1.Stack, now time.Time) decide.Drift {
	known := driftStatus(stack)
	correction, outdated := observeCorrection(stack, known)
	seen := decide.Drift{
		Found:     KnownProject(stack).Name != "" && !MustExist(stack),
		Requested: IsOpenRequest(stack, v1.CheckDriftAnnotation, known.LastHandledCheck),
		// What nothing asks for is dropped, and is not checked again.
		Pending:  !IsDriftUnwanted(stack) && (known.CheckPending || outdated),
		Failures: known.Failures, Correction: correction,
		Left: isDriftLeft(stack),
	}
	if known.LastCheckedAt != nil {
		seen.LastAt = known.LastCheckedAt.Time
	}
	if stack.Spec.Drift == nil {
		return seen // no schedule
	}
	seen.Unscheduled = needsSchedule(stack, known)
	if schedule, err := drift.NewSchedule(stack.Spec.Drift, string(stack.UID)); err == nil { // an error is a fault of the spec
		seen.NextAt = nextCheck(stack, known, schedule, now)
	}
	return seen
}

// nextCheck returns when the next check is due on schedule.
func nextCheck(stack *v1.Stack, known v1.DriftStatus, schedule *drift.Schedule, now time.Time) time.Time {
	last, next := stack.CreationTimestamp.Time, schedule.Next
	switch {
	case known.LastCheckedAt != nil:
		last = known.LastCheckedAt.Time
	case known.ScheduledSince != nil:
		last, next = known.ScheduledSince.Time, schedule.First
	case needsSchedule(stack, known):
		last, next = now, schedule.First
	}
	if last.After(now.Add(drift.MaxSpread)) {
		// The clock was set back. As seen from now, the next check would be as far away at
		// each look at the Stack.
		return now
	}
	return next(last)
}

// needsSchedule reports whether it is to be recorded since when the Stack is to be checked: it was there
// before, as it has been edited since. Otherwise, that is its creation.
func needsSchedule(stack *v1.Stack, known v1.DriftStatus) bool {
	return stack.Spec.Drift != nil && stack.Generation > 1 && known.LastCheckedAt == nil && known.ScheduledSince == nil
}

// ScheduleDrift records since when the Stack is to be checked for drift.
func ScheduleDrift(stack *v1.Stack, now time.Time) {
	known := driftStatus(stack)
	if needsSchedule(stack, known) {
		known.ScheduledSince = &metav1.Time{Time: now}
		stack.Status.Drift = &known
	}
}

// CheckRequest returns the value of the annotation that asks for a check, in the form in which
// the status has it, "" if none is asked for. The annotation stays once it is handled, and no
// later check is on request.
func CheckRequest(stack *v1.Stack) string {
	if !IsOpenRequest(stack, v1.CheckDriftAnnotation, driftStatus(stack).LastHandledCheck) {
		return ""
	}
	return RequestToken(stack.Annotations[v1.CheckDriftAnnotation])
}

// CheckFailures returns how many checks for drift in a row have failed.
func CheckFailures(stack *v1.Stack) int64 { return driftStatus(stack).Failures }

// absorbCheck absorbs the result of a check for drift. One that was stopped, because the
// controller has ended or the Stack needed another run, is repeated.
func absorbCheck(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	switch {
	case wasCancelled(stack, record) && result.Outcome != run.Succeeded:
		failCheck(stack, record.CheckRequest, "The check was cancelled on request", result.EndedAt)
		stack.Status.Drift.Failures, stack.Status.Drift.CheckPending = 0, false // it was not what failed, and is due on schedule
	case result.Outcome == run.Cancelled:
	case result.Outcome != run.Succeeded:
		failCheck(stack, record.CheckRequest, cmp.Or(result.Message, string(result.Outcome)), result.EndedAt)
	case result.Drift == nil:
		failCheck(stack, record.CheckRequest, "the run has not reported what has drifted", result.EndedAt)
	default:
		recordDrift(stack, record, result)
	}
}

// FailCheck records why a check for drift could not be started.
func FailCheck(stack *v1.Stack, message string, now time.Time) {
	failCheck(stack, CheckRequest(stack), message, now)
}

// failCheck records why it is not known whether anything has drifted. What was found before is
// kept: if it is found again, it is no news. After a correction, the next check is still the one
// that follows it.
func failCheck(stack *v1.Stack, request, message string, at time.Time) {
	known := driftStatus(stack)
	known.LastCheckedAt, known.ScheduledSince = &metav1.Time{Time: at}, nil
	known.LastHandledCheck = cmp.Or(request, known.LastHandledCheck)
	known.Result, known.Message = v1.DriftCheckFailedReason, bounded.Text(message, maxDriftMessage)
	known.Failures++
	stack.Status.Drift = &known
	setCondition(stack, v1.DriftedCondition, metav1.ConditionUnknown, v1.DriftCheckFailedReason, "The check for drift failed: "+known.Message)
}

// recordDrift records what a check has found.
func recordDrift(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	before, found := driftStatus(stack), result.Drift.Found
	counts := found.Counts()
	known := v1.DriftStatus{
		LastCheckedAt: &metav1.Time{Time: result.EndedAt}, LastHandledCheck: cmp.Or(record.CheckRequest, before.LastHandledCheck),
		Result: v1.NoDriftReason, Ignored: int32(result.Drift.Ignored),
	}
	known.Unfinished = stillUnfinished(stack, found)
	if found.IsEmpty() {
		dropDriftPlan(stack, "")
		recordNoneFound(stack, before, known)
		return
	}
	known.Result, known.Digest = v1.DriftDetectedReason, found.Digest()
	known.Changed, known.Deleted = int32(counts.Total()-counts.Delete), int32(counts.Delete)
	known.Since = known.LastCheckedAt
	if before.Digest == known.Digest {
		known.Since, known.Proposed = before.Since, before.Proposed
	}
	planCorrection(stack, record, before, &known, *result.Drift)
	stack.Status.Drift = &known
	setCondition(stack, v1.DriftedCondition, metav1.ConditionTrue, v1.DriftDetectedReason, driftText(known, counts))
}

// recordNoneFound records that a check has found no drift that counts.
func recordNoneFound(stack *v1.Stack, before, known v1.DriftStatus) {
	stack.Status.Drift = &known
	if known.Unfinished == nil {
		setCondition(stack, v1.DriftedCondition, metav1.ConditionFalse, v1.NoDriftReason, noDriftText(known.Ignored))
		return
	}
	known.Result, known.Message = v1.DriftDetectedReason, unfinishedMessage(before)
	setCondition(stack, v1.DriftedCondition, metav1.ConditionTrue, v1.DriftDetectedReason, unfinishedText(known.Unfinished))
}

func noDriftText(ignored int32) string {
	if ignored == 0 {
		return "No drift was found"
	}
	return fmt.Sprintf("No drift was found that counts (%d ignored)", ignored)
}

func driftText(known v1.DriftStatus, counts plan.Counts) string {
	text := "Found drift: " + plan.DriftText(counts)
	if known.Ignored > 0 {
		text += fmt.Sprintf(" (%d ignored)", known.Ignored)
	}
	if known.Unfinished != nil {
		text += ". " + unfinishedText(known.Unfinished)
	}
	return text
}
