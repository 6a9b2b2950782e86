// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"fmt"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Policies is what is decided on of policies. The zero value is a Stack that no PolicySet selects.
type Policies struct {
	// Selected reports whether a PolicySet selects the Stack, and Recorded whether the status has
	// something of policies.
	Selected, Recorded bool
	// Sets are the names of the PolicySets, for Explain.
	Sets []string
	// Problem is why a pack that is enforced cannot be used, nil if all can.
	Problem *Problem
	// Unreadable reports whether a pack could not be read for a cause that may soon be over, such as
	// an error of the API server.
	Unreadable bool
	// Enforced is the digest of the packs that updates run with, "" if there are none.
	Enforced string
	// Digest is that of all packs and of the inputs, "" if a pack cannot be used.
	Digest string
	// Checked is the Digest of the last check, LastAt when it ended, and Failures how many in a
	// row have failed. LastAt is zero if there was none.
	Checked  string
	LastAt   time.Time
	Failures int64
}

// policyPacks lets no program run without the packs that are enforced for it. A Stack with nothing
// due is left as it is, and Compliant says what is wrong with its packs: a fault in the source of a
// pack must not make all Stacks of a cluster unready, and those that depend on them. What runs no
// program was decided on before, but for reading the outputs.
func policyPacks(o Observation) (Decision, bool) {
	p := o.Policies.Problem
	if p == nil || !runsProgram(o) {
		return Decision{}, false
	}
	if read, due := outputs(o); due && read.Action == Start {
		return read, true
	}
	return Decision{Action: Fail, Reason: p.Reason, Message: p.Message, Awaited: p.Awaited, Fetching: p.Fetching, After: problemDelay(o, p)}, true
}

// runsProgram reports whether a run with packs would be next.
func runsProgram(o Observation) bool {
	due := correctDrift(o, firstOf(o, forRun()))
	return due.Action == Start && run.KindFor(due.Operation, due.Drift).Policies != run.PoliciesNever
}

// checkPoliciesBetween checks the policies between two runs, beside the action. A run that is due
// comes first: it may be the check.
func checkPoliciesBetween(o Observation, due Decision) Decision {
	if o.Run != nil || due.Check || startsNext(due) {
		return due
	}
	if o.Policies.Unreadable {
		return due.within(unavailableBackoff) // no event says when it can be read
	}
	at := policyCheckAt(o)
	if at.IsZero() {
		return due
	}
	due, isDue := due.until(o, at)
	due.CheckPolicies = isDue
	return due
}

// policyCheckAt is when the next check of the policies is due, zero if none is. It previews inputs
// that were run: others are checked when they are. With a pack that cannot be used, it fails, which
// says so.
func policyCheckAt(o Observation) time.Time {
	p := o.Policies
	hasRun := o.Digest == o.Last.Digest && (o.Drift.Found || o.Preview)
	switch {
	case !p.Selected, p.Unreadable, o.Digest == "", !hasRun, o.Deleting, o.Interrupted, len(o.UnknownCreates) > 0:
		return time.Time{}
	case p.LastAt.IsZero(), p.Checked != p.Digest:
		return o.Now
	case p.Failures == 0:
		return time.Time{}
	}
	return o.afterFailedChecks(p.Failures, p.LastAt)
}

// policiesChanged reports whether the last run has failed for policies that are others by now.
func policiesChanged(o Observation) bool {
	ofPolicies := o.Last.Reason == v1.PolicyViolationReason || o.Last.Reason == v1.PolicyPackFailedReason
	return !o.Last.Succeeded && ofPolicies && run.KindOf(o.Last.Operation).Policies != run.PoliciesNever && o.Policies.Enforced != o.Last.Policies
}

func policiesLeft(o Observation, _ Decision) bool {
	return o.Policies.Recorded && !o.Policies.Selected && o.Run == nil && !o.Deleting
}

func foundPolicyPacks(o Observation) string {
	p := o.Policies
	switch {
	case !p.Selected:
		return "no PolicySet selects the Stack"
	case p.Problem != nil:
		return fmt.Sprintf("%s: %s", p.Problem.Reason, p.Problem.Message)
	case o.Suspended:
		return "those of " + some(p.Sets)
	case p.Enforced == "":
		return "none is enforced of " + some(p.Sets)
	}
	return "those that are enforced can be used, of " + some(p.Sets)
}

func foundPolicyCheck(o Observation) string {
	p, at := o.Policies, policyCheckAt(o)
	switch {
	case isInFlight(o, run.CheckPolicies):
		return "in flight"
	case p.Unreadable:
		return "not before all packs can be read"
	case at.IsZero() && p.Checked == p.Digest && !p.LastAt.IsZero():
		return "checked at " + stamp(p.LastAt)
	case at.IsZero():
		return "not before a run of the current inputs"
	case p.Failures > 0 && p.Checked == p.Digest:
		return fmt.Sprintf("due at %s, after %d that failed", stamp(at), p.Failures)
	}
	return "due, as the packs or the inputs are others than those of the last check"
}
