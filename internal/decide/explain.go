// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"cmp"
	"fmt"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// AboutRun names the check for a run in flight.
const AboutRun = "run in flight"

// aboutGit names the check for the objects that are kept for spec.projectRepo.
const aboutGit = "objects for spec.projectRepo"

// Check is the outcome of one rule.
type Check struct {
	// About is what the rule looks at, and Found what it sees there.
	About, Found string
	// Decided reports whether this rule decides. The rules before it did not apply, and
	// those after it were not asked.
	Decided bool
}

// Explain returns the decision of Next, and the checks that led to it, in order. It
// evaluates the same rules.
func Explain(o Observation) (Decision, []Check) {
	checks := besideRules(o)
	for _, r := range rules(o) {
		d, decided := r.decide(o)
		checks = append(checks, Check{About: r.about, Found: r.found(o), Decided: decided})
		if decided {
			return complete(o, d), checks
		}
	}
	return Next(o), checks
}

// besideRules are the checks of what is due whatever the rules decide.
func besideRules(o Observation) []Check {
	var checks []Check
	if !checkAt(o).IsZero() || isInFlight(o, run.CheckDrift) {
		checks = append(checks, Check{About: aboutDrift, Found: foundDrift(o)})
	}
	if o.Policies.Selected {
		checks = append(checks, Check{About: "check of policies", Found: foundPolicyCheck(o)})
	}
	return checks
}

// Why says why the duty is due.
func (d Duty) Why() string {
	for _, rule := range dutyRules() {
		if rule.duty == d {
			return rule.why
		}
	}
	return ""
}

func foundRun(o Observation) string {
	if o.Run == nil {
		return "none"
	}
	return fmt.Sprintf("one since %s, which is %s and held %s", stamp(o.Run.StartedAt), o.Run.Phase, o.Run.Holder)
}

func foundGitObjects(o Observation) string {
	if o.GitObjects == "" {
		return "none, or as they should be"
	}
	return "to be done: " + o.GitObjects
}

func foundSuspended(o Observation) string { return whether(o.Suspended, "suspended", "not suspended") }

func foundCancelled(o Observation) string {
	if o.Cancelled == nil {
		return "none was cancelled with this spec"
	}
	return fmt.Sprintf("the last %s was cancelled, of %s inputs", o.Cancelled.Operation, whether(o.Cancelled.Digest == o.Digest, "the same", "other"))
}

func foundProblem(o Observation) string {
	if o.Problem == nil {
		return "nothing is missing"
	}
	return fmt.Sprintf("%s: %s", o.Problem.Reason, o.Problem.Message)
}

func foundInterrupted(o Observation) string {
	switch {
	case o.Interrupted:
		return "one that needs a recovery"
	case len(o.UnknownCreates) > 0:
		return "these may have been created: " + some(o.UnknownCreates)
	}
	return "none"
}

func foundDependencies(o Observation) string {
	if len(o.Unready) == 0 {
		return "all are ready"
	}
	return "not ready: " + some(o.Unready)
}

func foundDependents(o Observation) string { return cmp.Or(some(o.Dependents), "none") }

func foundRequests(o Observation) string {
	switch {
	case o.Requested:
		return "one that was not acknowledged"
	case o.RunPending:
		return "one that was acknowledged but could not start"
	}
	return "none"
}

func foundElsewhere(o Observation) string {
	return whether(o.AppliedElsewhere, "the current inputs", "nothing to take over")
}

func foundInputs(o Observation) string {
	if o.Last.Digest == "" {
		return "never run"
	}
	return fmt.Sprintf("%s, the last run had %s", o.Digest, whether(o.Digest == o.Last.Digest, "the same", o.Last.Digest))
}

func foundCommit(o Observation) string {
	switch {
	case !o.Preview || (!o.ChangeRequest && !o.PreviewOutdated):
		return "none"
	case isNewCommit(o):
		return fmt.Sprintf("at %s, the last preview was of %s", o.Revision, o.Last.Revision)
	case o.CommentReplaced:
		return "its pull request shows something else than the last preview"
	case o.PreviewOutdated:
		return "since the last preview, the Stack in spec.previewOf has changed, or why the plan cannot be approved there"
	}
	return "previewed at " + cmp.Or(o.Last.Revision, "no revision")
}

func foundLast(o Observation) string {
	if o.Last.Operation == "" {
		return "none"
	}
	ended := whether(o.Last.Succeeded, "succeeded", "failed with "+o.Last.Reason)
	text := fmt.Sprintf("%s %s at %s", o.Last.Operation, ended, stamp(o.Last.EndedAt))
	if !o.Last.Succeeded && o.Edited {
		text += ", and the spec was edited since then"
	}
	return text
}

func foundResync(o Observation) string {
	if !o.ContinueResync {
		return "not asked for by the spec"
	}
	if !resyncs(o) {
		return "none while a plan that undoes drift is proposed"
	}
	return fmt.Sprintf("due %s after the end of the last run, at %s", o.Interval, stamp(o.Last.EndedAt.Add(o.Interval)))
}

func foundOutputs(o Observation) string {
	switch secret := o.Outputs; {
	case secret.Blocked != "":
		return secret.Blocked
	case !secret.Stale:
		return "none, or as it should be"
	default:
		return cmp.Or(secret.Fault, "missing, or not as it should be")
	}
}

func foundFinalizer(o Observation) string {
	return whether(!o.HasFinalizer || o.NeverRan, "no run has started Pulumi", "runs may have created resources")
}

func foundDestroy(o Observation) string { return whether(o.DestroyOnFinalize, "set", "not set") }

func foundNamespace(o Observation) string {
	return whether(o.NamespaceEnds, "being deleted, accepts no new objects", "accepts the objects of a run")
}

func foundMustExist(o Observation) string {
	return whether(o.MustExist, "another controller updated it, and no run has found it yet", "it was found, or this controller created it")
}

func whether(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return "an unknown time"
	}
	return at.UTC().Format(time.RFC3339)
}
