// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The plan of a preview is kept where those that wait for an approval are, and waits for none: it is
// approved by its digest at the Stack in spec.previewOf, before or after that has proposed the same.

// noStateInPlan is why a plan cannot be approved that does not say from which state it starts. The
// pod of an earlier version makes such a plan, and a warning of the run has any other reason.
const noStateInPlan = "no update can be held to the plan, which does not say from which state of the stack it starts"

// MakesPlan reports whether the previews of the Stack make a plan, for a person to review.
func MakesPlan(stack *v1.Stack) bool {
	return stack.Spec.Preview && (stack.Spec.PreviewOf != nil || HasChangeRequest(stack))
}

// KeepsPlan reports whether the plan of the run is kept for people: it is proposed, or the Stack previews it.
func KeepsPlan(stack *v1.Stack, record *v1.RunStatus, result *run.Result) bool {
	return IsProposal(record, result) || previewsPlan(stack, record, result)
}

// previewsPlan reports whether a preview that is a reconcile of the Stack has made a plan.
func previewsPlan(stack *v1.Stack, record *v1.RunStatus, result *run.Result) bool {
	kind := run.KindOfRecord(record)
	return kind.Operation == run.Preview && kind.Reconciles && MakesPlan(stack) && result.Outcome == run.Succeeded && result.Plan != nil
}

// isPreviewed reports whether the plan is one that is only previewed.
func isPreviewed(p *v1.PlanStatus) bool { return p != nil && p.State == v1.PlanPreviewed }

// recordPreviewed records the plan of a preview, if it has made one.
func recordPreviewed(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	before := stack.Status.Plan
	if !previewsPlan(stack, record, result) {
		if isPreviewed(before) {
			stack.Status.Plan = nil
		}
		return
	}
	now := metav1.Time{Time: result.EndedAt}
	made := newPlan(record, result, now)
	made.State, made.Message, made.LastApplied, made.AfterRun = v1.PlanPreviewed, whyIncomparable(*record, result), lastApplied(before), record.AfterRun
	if isPreviewed(before) && before.Digest == made.Digest {
		made.Run, made.ProposedAt, made.CheckedAt, made.Difference = before.Run, before.ProposedAt, &now, before.Difference
	}
	stack.Status.Plan = made
}

// whyIncomparable is why the plan of a preview cannot be approved, "" if it can.
func whyIncomparable(record v1.RunStatus, result *run.Result) string {
	if result.Plan.State == "" {
		return cmp.Or(record.Incomparable, noStateInPlan)
	}
	return record.Incomparable
}

// LastChange returns the ID of the run that has changed something last, as far as the history has it.
func LastChange(stack *v1.Stack) string { return history.LastChange(stack.Status.History) }

// IsOutdated reports whether the previewed Stack has changed something since the preview has made its plan.
func IsOutdated(preview, previewed *v1.Stack) bool {
	p, last := preview.Status.Plan, LastChange(previewed)
	return isPreviewed(p) && last != "" && last != p.AfterRun
}

// IsIncomparable reports whether the plan of the last preview cannot be approved for a reason that may be gone by now.
func IsIncomparable(stack *v1.Stack) bool {
	p := stack.Status.Plan
	return MakesPlan(stack) && isPreviewed(p) && reasonIn(p) != ""
}

// IsOtherReason reports whether the pull request has to show that the plan of the last preview can be approved by now,
// or another reason why it cannot. One that replaces another waits for the retry interval: reasons may alternate.
func IsOtherReason(stack *v1.Stack, why string, now time.Time) bool {
	p := stack.Status.Plan
	if !isPreviewed(p) || reasonIn(p) == why {
		return false
	}
	return why == "" || now.Sub(madeAt(p)) >= stack.GetRetryInterval()
}

// reasonIn is why the inputs of the plan are not those of the Stack that the preview names.
func reasonIn(p *v1.PlanStatus) string {
	if p.Message == noStateInPlan {
		return ""
	}
	return p.Message
}

// madeAt is when the plan was made last.
func madeAt(p *v1.PlanStatus) time.Time {
	if p.CheckedAt != nil {
		return p.CheckedAt.Time
	}
	return p.ProposedAt.Time
}
