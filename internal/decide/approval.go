// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"cmp"
	"fmt"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Approval is what is observed of spec.approval, and of what is proposed. The zero value is
// a Stack that needs no approval.
type Approval struct {
	// Required reports whether changes are proposed before they are made.
	Required bool
	// Plan is what is proposed, nil if nothing is, or if it was applied.
	Plan *Plan
}

// Plan is a plan that is proposed.
type Plan struct {
	// Operation that it is of: an Update or a Destroy.
	Operation run.Operation
	// Digest of the plan.
	Digest string
	// Approved reports whether it is approved, or NeedsNobody to approve it. Rejected reports
	// whether a person has rejected it, which counts for more.
	Approved, NeedsNobody, Rejected bool
	// Unwritten says that the details could not be written, without which few can approve it.
	Unwritten bool
	// MadeAt is when it was made last.
	MadeAt time.Time
	// Message says what is proposed and what to do, or why it was rejected.
	Message string
}

// isApproved reports whether a run may be held to the plan.
func (p *Plan) isApproved() bool { return p.Digest != "" && p.Approved && !p.Rejected }

// approves reports whether the operation is approved, if it does what the plan says.
func (a Approval) approves(operation run.Operation) bool {
	p := a.Plan
	return p != nil && p.Operation == operation && p.isApproved()
}

// approvesProposalOf reports whether what the proposal is of is approved.
func (a Approval) approvesProposalOf(proposal run.Operation) bool {
	return a.Plan != nil && run.ProposalOf(a.Plan.Operation) == proposal && a.approves(a.Plan.Operation)
}

// proposeFirst has a run that changes resources held to the plan that is approved, and
// proposes what it would do if none is. It is the only place that decides on that, whichever
// rule starts the run: none can forget it.
func proposeFirst(o Observation, d Decision) Decision {
	if d.Action != Start || !o.Approval.Required || !run.KindOf(d.Operation).ChangesResources {
		return d
	}
	if o.Approval.approves(d.Operation) {
		d.Approved = o.Approval.Plan.Digest
		return d
	}
	d.Operation = run.ProposalOf(d.Operation)
	return d
}

// proposed decides what follows from a proposal: the run itself is due ever since. The plan
// that waits is made again at each interval, so that nobody approves one that no longer
// applies, and sooner if its details could not be written. Reading outputs changes nothing, and waits for nobody.
func proposed(what func(Observation) run.Operation) func(Observation) (Decision, bool) {
	return func(o Observation) (Decision, bool) {
		operation := what(o)
		if o.Last.Operation != run.ProposalOf(operation) || !o.Last.Succeeded {
			return Decision{}, false
		}
		next, p := Decision{Action: Start, Operation: operation}, o.Approval.Plan
		interval := o.Interval
		if p != nil && p.Unwritten {
			interval = min(interval, o.RetryInterval)
		}
		wait := o.remaining(interval, o.Last.EndedAt)
		switch {
		case o.Approval.approves(operation) && p.NeedsNobody && o.Failures > 0:
			return neverTheSame(o, operation), true
		case !o.Approval.Required, o.Approval.approves(operation), p == nil, p.Operation != operation:
			return next, true
		case p.Rejected:
			return Decision{Action: Stall, Reason: v1.PlanRejectedReason, Message: p.Message, After: o.Interval}, true
		case wait <= 0:
			return next, true
		}
		if read, due := outputs(o); due && read.Action == Start && !o.Deleting {
			return read, true
		}
		return Decision{Action: AwaitApproval, Reason: v1.ApprovalRequiredReason, Message: p.Message, After: max(time.Second, wait)}, true
	}
}

// neverTheSame backs off from an update that needs no approval and has found another plan than
// the proposed one: with values that depend on the time or on chance, each would.
func neverTheSame(o Observation, operation run.Operation) Decision {
	delay := backoff(interruptedBackoff, o.Failures, o.RetryInterval)
	wait := o.remaining(delay, o.Last.EndedAt)
	if wait <= 0 || o.Edited {
		return Decision{Action: Start, Operation: operation}
	}
	return Decision{Action: Fail, Reason: run.KindOf(operation).FailedReason, After: wait,
		Message: fmt.Sprintf("The plan was another one each time it was made, %d times in a row, so nothing was changed: "+
			"does it have values that depend on the time or on chance?", o.Failures+1)}
}

// approvedSince reports whether the operation was approved after the plan that waited for it
// could not be made again: that failure says nothing of what the approved run will do.
func approvedSince(o Observation, operation run.Operation) bool {
	return o.Last.Operation == run.ProposalOf(operation) && !o.Last.Succeeded && o.Approval.approves(operation)
}

func foundPlan(o Observation) string {
	p := o.Approval.Plan
	switch {
	case p == nil:
		return whether(o.Approval.Required, "required, and nothing is proposed", "not required")
	case !o.Approval.Required:
		return fmt.Sprintf("not required; %s of %s is proposed", p.Digest, article(p.Operation))
	}
	state := cmp.Or(whether(p.Rejected, "rejected", ""), whether(p.Approved, "approved", "not approved"))
	return fmt.Sprintf("required; plan %s of %s is %s", p.Digest, article(p.Operation), state)
}

func article(operation run.Operation) string {
	if operation == run.Destroy {
		return "the destroy"
	}
	return "an update"
}
