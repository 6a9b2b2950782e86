// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxApprover bounds who is named by annotations, in bytes.
const maxApprover = 256

// requirement returns which changes of the Stack need an approval.
func requirement(stack *v1.Stack) v1.ApprovalRequirement {
	if stack.Spec.Approval == nil {
		return v1.ApprovalNever
	}
	return cmp.Or(stack.Spec.Approval.Require, v1.ApprovalNever)
}

// requirementFor returns which approval the plan needs. With the mode Propose, each plan that
// undoes drift needs one.
func requirementFor(stack *v1.Stack, p *v1.PlanStatus) v1.ApprovalRequirement {
	if p != nil && p.Drift != "" && driftMode(stack) == v1.DriftPropose {
		return v1.ApprovalAlways
	}
	return requirement(stack)
}

// openPlan returns the plan that is neither applied nor replaced, nil if there is none. One that
// is only previewed never waits.
func openPlan(stack *v1.Stack) *v1.PlanStatus {
	if p := stack.Status.Plan; p != nil && p.State != v1.PlanApplied && p.State != v1.PlanPreviewed {
		return p
	}
	return nil
}

// observeApproval returns what is decided on of approvals.
func observeApproval(stack *v1.Stack) decide.Approval {
	seen := decide.Approval{Required: requirement(stack) != v1.ApprovalNever}
	if p := openPlan(stack); p != nil && p.Drift == "" {
		seen.Plan = observePlan(stack, p)
	}
	return seen
}

// observePlan returns what is decided on of a plan that is proposed.
func observePlan(stack *v1.Stack, p *v1.PlanStatus) *decide.Plan {
	by, approved := approval(stack, p)
	seen := &decide.Plan{
		Operation: p.Operation, Digest: p.Digest, Approved: approved, NeedsNobody: approved && by.nobody, Unwritten: p.ConfigMap == "",
		Rejected: stack.Annotations[v1.RejectAnnotation] == p.Digest, Message: awaitingText(stack, p), MadeAt: madeAt(p),
	}
	if seen.Rejected {
		seen.Message = rejectedText(stack, p)
	}
	return seen
}

// approver is who has approved a plan, or why nobody has to.
type approver struct {
	name   string
	nobody bool
}

// approval returns who has approved the plan, false if nobody has and someone has to.
func approval(stack *v1.Stack, p *v1.PlanStatus) (approver, bool) {
	switch required := requirementFor(stack, p); {
	case p.NoChanges:
		return approver{"nothing changes", true}, true
	case required == v1.ApprovalDestructive && !p.Destructive:
		return approver{"nothing is deleted or replaced", true}, true
	case p.Digest == stack.Annotations[v1.ApproveAnnotation]:
		return approver{name: annotatedBy(stack, v1.ApproveAnnotation)}, true
	case stack.Spec.Approval != nil && p.Digest == stack.Spec.Approval.Approved:
		return approver{name: "spec.approval.approved"}, true
	}
	return approver{}, false
}

// annotatedBy returns who says to have set the annotation, or names the annotation.
func annotatedBy(stack *v1.Stack, annotation string) string {
	return bounded.Line(cmp.Or(stack.Annotations[v1.ApprovedByAnnotation], "the annotation "+annotation), maxApprover)
}

// IsStillApproved reports whether nobody has taken back what the recorded run was approved by, or
// rejected its plan. Annotations change no generation.
func IsStillApproved(stack *v1.Stack, record *v1.RunStatus) bool {
	p := openPlan(stack)
	if record.Approved == "" || requirementFor(stack, p) == v1.ApprovalNever || p == nil || p.Digest != record.Approved {
		return true
	}
	_, approved := approval(stack, p)
	return approved && stack.Annotations[v1.RejectAnnotation] != p.Digest
}

// digestForm is the form of a digest. Anything else is not repeated: whoever mistakes one
// field for another may have put a secret there.
var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// uncounted says why an approval that was given does not count for the plan, "" if none was. One
// that was used stays there.
func uncounted(stack *v1.Stack, p *v1.PlanStatus) string {
	given := []struct{ field, digest string }{{"the annotation " + v1.ApproveAnnotation, stack.Annotations[v1.ApproveAnnotation]}}
	if stack.Spec.Approval != nil {
		given = append(given, struct{ field, digest string }{"spec.approval.approved", stack.Spec.Approval.Approved})
	}
	for _, is := range given {
		switch {
		case is.digest == "" || is.digest == p.Digest || wasApplied(stack, p, is.digest):
		case digestForm.MatchString(is.digest):
			return fmt.Sprintf("%s approves another plan, %s", is.field, is.digest)
		default:
			return is.field + " is not the digest of a plan"
		}
	}
	return ""
}

// wasApplied reports whether a plan with the digest was applied before this one was proposed.
func wasApplied(stack *v1.Stack, p *v1.PlanStatus, digest string) bool {
	return digest == p.LastApplied || slices.ContainsFunc(stack.Status.History, func(ended meta.Snapshot) bool {
		return ended.Metadata["plan"] == digest && ended.LastReconciledStatus == meta.ReconciliationSucceededReason
	})
}

// awaitingText says what waits for an approval, and how to give it.
func awaitingText(stack *v1.Stack, p *v1.PlanStatus) string {
	text := fmt.Sprintf("%s waits for an approval of plan %s, for example with flux pulumi approve stack %s -n %s",
		proposalText(p), p.Digest, stack.Name, stack.Namespace)
	if why := uncounted(stack, p); why != "" {
		text += ": " + why
	}
	return text
}

// proposalText describes the plan.
func proposalText(p *v1.PlanStatus) string {
	what := "The update"
	switch {
	case p.Operation == v1.OperationDestroy:
		what = "The destroy of the stack"
	case p.Drift != "":
		what += " that undoes drift"
	case p.Revision != "":
		what += " to revision " + p.Revision
	}
	c := p.ResourceChanges
	c.Same = 0
	if c == (v1.ResourceChanges{}) && p.OptionChanges == 0 {
		return fmt.Sprintf("%s (%s)", what, whether(p.NoChanges, "no changes", "only outputs change"))
	}
	return fmt.Sprintf("%s (%s)", what, list(append(previewCounted(changesOf(c)), counted{int(p.OptionChanges), "with changed options"})))
}

func whether(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// MarkAwaitingApproval marks a Stack whose plan waits. Its reason of Reconciling keeps clients
// waiting: nothing has failed.
func MarkAwaitingApproval(stack *v1.Stack, reason, message string) {
	MarkFetching(stack, reason, message)
	if p := openPlan(stack); p != nil {
		p.State, p.ApprovedAt, p.ApprovedBy, p.Message = v1.PlanProposed, nil, "", uncounted(stack, p)
	}
}

// recordApproval records that the run applies the plan, and who has approved that. Without an
// approval, whatever was proposed no longer counts.
func recordApproval(stack *v1.Stack, record *v1.RunStatus) {
	changes, p := run.KindOfRecord(record).ChangesResources, openPlan(stack)
	switch {
	case changes && isPreviewed(stack.Status.Plan): // of a Stack that only previewed before
		stack.Status.Plan = nil
	case p == nil || !changes:
	case p.Drift != "" && record.Drift == "": // of drift that is still there
	case record.Approved != p.Digest:
		stack.Status.Plan = nil
	default:
		by, _ := approval(stack, p)
		p.State, p.ApprovedAt, p.ApprovedBy, p.Message = v1.PlanApproved, record.StartedAt.DeepCopy(), by.name, ""
		if by.nobody {
			p.ApprovedBy, p.Message = "", "No approval is needed: "+by.name
		}
	}
}

// IsProposal reports whether what the run has left is a proposal.
func IsProposal(record *v1.RunStatus, result *run.Result) bool {
	kind := run.KindOfRecord(record)
	return (kind.ChangesResources && result.Outcome == run.PlanChanged) || (kind.Proposes && result.Outcome == run.Succeeded)
}

// absorbProposal records what is proposed. A run that has found another plan than the approved
// one ends as the proposal of that.
func absorbProposal(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	recordPlan(stack, record, result)
	proposal := *record
	if !run.KindOfRecord(record).Proposes {
		proposal.Operation = run.ProposalOf(record.Operation)
		proposal.Digest = recordedDigest(proposal.Operation, inputsOf(record))
		stack.Status.LastAttemptedDigest = attemptedDigest(&proposal)
	}
	p := stack.Status.Plan
	by, approved := approval(stack, p)
	stack.Status.Failures = failuresAfterProposal(stack, record, by)
	text := proposalText(p)
	setLastRun(stack, &proposal, v1.UpdateSucceeded, "", text, result.EndedAt)
	stack.Status.LastUpdate.Permalink = result.Permalink
	markEnded(stack, record, "Proposed: "+text, func() {
		if approved {
			MarkWaiting(stack, text+" is next")
			return
		}
		MarkAwaitingApproval(stack, v1.ApprovalRequiredReason, awaitingText(stack, p))
	})
}

// failuresAfterProposal counts the plans in a row that need nobody's approval, and yet were not
// applied: each was another one when it was made again. After an update that has failed, or a
// recovery, it is another one because the state is.
func failuresAfterProposal(stack *v1.Stack, record *v1.RunStatus, by approver) int64 {
	before := stack.Status.LastRun
	switch {
	case run.KindOfRecord(record).Proposes, !by.nobody:
		return 0
	case before == nil || run.KindOf(before.Operation).Proposes:
		return stack.Status.Failures + 1
	case before.Operation == v1.OperationRecover:
		return stack.Status.Failures // the delay after runs that are interrupted each time still grows
	}
	return 0
}

// recordPlan records the plan. If it is the one that is proposed already, it is only current
// again: a forced run refreshes, and may so propose the same as what undoes drift.
func recordPlan(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	made, operation, before := result.Plan, planned(record), stack.Status.Plan
	digest, madeAt := made.Digest(), plannedAt(stack, record, result)
	if same := openPlan(stack); same != nil && same.Digest == digest && same.Operation == operation {
		same.Drift, same.Revision, same.OriginRevision, same.Unbound = record.Drift, record.Revision, record.OriginRevision, made.Unbound
		same.CheckedAt = &madeAt
		return
	}
	stack.Status.Plan = newPlan(record, result, madeAt)
	stack.Status.Plan.LastApplied = lastApplied(before)
	keepProposed(stack)
}

// newPlan describes the plan that the run has made first.
func newPlan(record *v1.RunStatus, result *run.Result, madeAt metav1.Time) *v1.PlanStatus {
	made := result.Plan
	return &v1.PlanStatus{
		Digest: made.Digest(), Operation: planned(record), Drift: record.Drift, State: v1.PlanProposed, Run: record.ID,
		Revision: record.Revision, OriginRevision: record.OriginRevision, ProposedAt: madeAt,
		Unbound: made.Unbound, Destructive: made.Destructive(), NoChanges: made.IsEmpty(),
		ResourceChanges: plannedChanges(made, result.Changes), OptionChanges: int32(made.Counts().Options),
	}
}

// keepProposed keeps when a plan that undoes drift was proposed first, if another one was in its place in
// the meantime: it is announced once.
func keepProposed(stack *v1.Stack) {
	p, known := stack.Status.Plan, stack.Status.Drift
	if p.Drift == "" || known == nil {
		return
	}
	if was := known.Proposed; was != nil && was.Digest == p.Digest {
		p.CheckedAt = p.ProposedAt.DeepCopy()
		p.Run, p.ProposedAt = was.Run, was.ProposedAt
		return
	}
	known.Proposed = &v1.DriftProposal{Digest: p.Digest, Run: p.Run, ProposedAt: p.ProposedAt}
}

// plannedAt is when the plan of the run was made. One that undoes drift is later than the check that has
// found it, whatever the clocks of their nodes say: it would be made again otherwise.
func plannedAt(stack *v1.Stack, record *v1.RunStatus, result *run.Result) metav1.Time {
	if checked := driftStatus(stack).LastCheckedAt; record.Drift != "" && checked != nil && checked.After(result.EndedAt) {
		return *checked
	}
	return metav1.Time{Time: result.EndedAt}
}

// lastApplied is the digest of the plan that was applied last, as the plan before knows it.
func lastApplied(before *v1.PlanStatus) string {
	switch {
	case before == nil:
		return ""
	case before.State == v1.PlanApplied:
		return before.Digest
	}
	return before.LastApplied
}

// recordDetails records where the plan of the run is as a whole.
func recordDetails(stack *v1.Stack, record *v1.RunStatus, details PlanDetails) {
	p := stack.Status.Plan
	if p == nil || details == (PlanDetails{}) {
		return
	}
	p.ConfigMap, p.ContentDigest = details.ConfigMap, details.ContentDigest
	if p.Run == record.ID {
		p.Difference = details.Difference
	}
}

// planned returns the operation that the run has made a plan of.
func planned(record *v1.RunStatus) v1.Operation {
	if record.Operation == v1.OperationDestroy || record.Operation == v1.OperationProposeDestroy {
		return v1.OperationDestroy
	}
	return v1.OperationUpdate
}

// waitingPlan returns the plan that waits for an approval, nil if there is none.
func waitingPlan(stack *v1.Stack) *v1.PlanStatus {
	p := openPlan(stack)
	if p == nil || p.Drift != "" || requirement(stack) == v1.ApprovalNever {
		return nil
	}
	if _, approved := approval(stack, p); approved {
		return nil
	}
	return p
}

// changesOf is the inverse of Changes.
func changesOf(c v1.ResourceChanges) run.Changes {
	return run.Changes{
		Created: int(c.Created), Updated: int(c.Updated), Deleted: int(c.Deleted), Replaced: int(c.Replaced),
		Retained: int(c.Retained), Same: int(c.Same),
	}
}

func plannedChanges(made *plan.Plan, seen run.Changes) v1.ResourceChanges {
	counts := made.Counts()
	return v1.ResourceChanges{
		Created: int32(counts.Create + counts.Import), Updated: int32(counts.Update), Deleted: int32(counts.Delete),
		Replaced: int32(counts.Replace), Retained: int32(counts.Retain), Same: int32(seen.Same),
	}
}

// recordApplied records that the approved plan was applied.
func recordApplied(stack *v1.Stack, record *v1.RunStatus) {
	if p := openPlan(stack); p != nil && p.Digest == record.Approved {
		p.State = v1.PlanApplied
	}
}
