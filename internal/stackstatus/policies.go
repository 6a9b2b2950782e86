// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// maxPolicyText bounds the message of status.policies, and maxViolationText that of a
	// violation, in bytes. maxPolicyName bounds its other texts.
	maxPolicyText    = 2048
	maxViolationText = 256
	maxPolicyName    = 512
	// maxViolatedNames bounds the policies that a condition names.
	maxViolatedNames = 10
)

// policiesStatus returns what is known of policies, empty if nothing is.
func policiesStatus(stack *v1.Stack) v1.PoliciesStatus {
	if known := stack.Status.Policies; known != nil {
		return *known.DeepCopy()
	}
	return v1.PoliciesStatus{}
}

// observePolicies returns what the status says of policies.
func observePolicies(stack *v1.Stack) decide.Policies {
	known := policiesStatus(stack)
	seen := decide.Policies{
		Recorded: stack.Status.Policies != nil || getCondition(stack, v1.CompliantCondition) != nil,
		Checked:  known.Digest, Failures: known.Failures,
	}
	if known.CheckedAt != nil {
		seen.LastAt = known.CheckedAt.Time
	}
	return seen
}

// PolicyCheckFailures returns how many checks of policies in a row have failed.
func PolicyCheckFailures(stack *v1.Stack) int64 { return policiesStatus(stack).Failures }

// absorbPolicyCheck absorbs the result of a check of policies. One that was stopped, because the
// controller has ended or the Stack needed another run, is repeated.
func absorbPolicyCheck(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	switch {
	case isVerdict(result):
		recordPolicies(stack, record, result)
	case wasCancelled(stack, record):
		FailPolicyCheck(stack, checksOf(record), "it was cancelled on request", result.EndedAt)
		stack.Status.Policies.Failures = 0 // it was not what failed, and follows with other packs or inputs
	case result.Outcome != run.Cancelled:
		FailPolicyCheck(stack, checksOf(record), cmp.Or(result.Message, string(result.Outcome)), result.EndedAt)
	}
}

// absorbPolicies absorbs what a run has found of policies that is no check of its own, but has all
// packs. Any other leaves that to a check.
func absorbPolicies(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	switch {
	case checksOf(record) == "":
	case isVerdict(result):
		recordPolicies(stack, record, result)
	case result.Outcome == run.PolicyPackFailed:
		FailPolicyCheck(stack, checksOf(record), result.Message, result.EndedAt)
	}
}

// isVerdict reports whether all resources were checked, as far as the violations allow.
func isVerdict(result *run.Result) bool {
	return result.Outcome == run.Succeeded || result.Outcome == run.PolicyViolation
}

func checksOf(record *v1.RunStatus) string {
	if record.Policies == nil {
		return ""
	}
	return record.Policies.Checks
}

// withoutForeignViolations drops the violations of packs that the run did not have: a program can
// write the result of its pod. Without a PolicySet are those of an organization in Pulumi Cloud.
func withoutForeignViolations(record *v1.RunStatus, result *run.Result) *run.Result {
	isForeign := func(set string) bool {
		return record.Policies == nil || set != "" && !slices.ContainsFunc(setsOf(record), func(s v1.RunPolicySet) bool { return s.Name == set })
	}
	found, kept := result.Violations, run.Violations{}
	for _, v := range found.Listed {
		if !isForeign(v.Set) {
			kept.Listed = append(kept.Listed, v)
		}
	}
	counted := func(counts map[string]int) map[string]int {
		own := maps.Clone(counts)
		maps.DeleteFunc(own, func(set string, _ int) bool { return isForeign(set) })
		return own
	}
	kept.Mandatory, kept.Advisory = counted(found.Mandatory), counted(found.Advisory)
	if len(kept.Listed) == len(found.Listed) && len(kept.Mandatory) == len(found.Mandatory) && len(kept.Advisory) == len(found.Advisory) {
		return result
	}
	own := *result
	own.Violations = kept
	return &own
}

func setsOf(record *v1.RunStatus) []v1.RunPolicySet {
	if record.Policies == nil {
		return nil
	}
	return record.Policies.Sets
}

// FailPolicyCheck records why it is not known whether policies are violated. The digest is that of
// the packs and the inputs, "" if they are not known. What was found before is kept: if it is found
// again, it is no news.
func FailPolicyCheck(stack *v1.Stack, digest, message string, at time.Time) {
	known := policiesStatus(stack)
	known.Digest, known.CheckedAt, known.Message = digest, &metav1.Time{Time: at}, bounded.Text(message, maxPolicyText)
	known.Failures++
	stack.Status.Policies = &known
	setCondition(stack, v1.CompliantCondition, metav1.ConditionUnknown, v1.PolicyCheckFailedReason, "The check of policies failed: "+known.Message)
}

// recordPolicies records which policies are violated.
func recordPolicies(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	found := result.Violations
	known := v1.PoliciesStatus{Digest: checksOf(record), CheckedAt: &metav1.Time{Time: result.EndedAt}, Violations: shownViolations(found)}
	for _, set := range setsOf(record) {
		known.Sets = append(known.Sets, v1.PolicySetResult{
			Name: set.Name, Digest: set.Digest, Mandatory: int32(found.Mandatory[set.Name]), Advisory: int32(found.Advisory[set.Name]),
		})
	}
	known.Mandatory, known.Advisory = int32(found.Count(run.Mandatory)), int32(found.Count(run.Advisory))
	stack.Status.Policies = &known
	if known.Mandatory > 0 || result.Outcome == run.PolicyViolation {
		setCondition(stack, v1.CompliantCondition, metav1.ConditionFalse, v1.PolicyViolationReason, violatedText(known, result.Message))
		return
	}
	setCondition(stack, v1.CompliantCondition, metav1.ConditionTrue, v1.PoliciesPassedReason, passedText(known))
}

// shownViolations returns the violations as the status shows them, in an order that does not depend
// on that in which Pulumi has found them.
func shownViolations(found run.Violations) []v1.PolicyViolation {
	var shown []v1.PolicyViolation
	listed := slices.SortedStableFunc(slices.Values(found.Listed), compareViolations)
	for _, v := range listed[:min(len(listed), v1.MaxViolations)] {
		shown = append(shown, v1.PolicyViolation{
			PolicySet: v.Set, Pack: v.Pack, Policy: bounded.Line(v.Policy, maxPolicyName), Level: string(v.Level),
			Resource: bounded.Line(v.Resource, maxPolicyName), Message: bounded.Text(v.Message, maxViolationText),
		})
	}
	return shown
}

// compareViolations sorts those of mandatory policies before others.
func compareViolations(a, b run.Violation) int {
	levels := []run.PolicyLevel{run.Mandatory, run.Advisory}
	return cmp.Or(cmp.Compare(slices.Index(levels, a.Level), slices.Index(levels, b.Level)), cmp.Compare(a.Set, b.Set), cmp.Compare(a.Pack, b.Pack),
		cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Message, b.Message))
}

func passedText(known v1.PoliciesStatus) string {
	if known.Advisory == 0 {
		return "No policy is violated"
	}
	return fmt.Sprintf("No mandatory policy is violated (%s of advisory policies)", plural.Of(int(known.Advisory), "violation", "violations"))
}

// violatedText names the mandatory policies that are violated. The message is that of the run, in
// case it has lost the violations.
func violatedText(known v1.PoliciesStatus, message string) string {
	names := policy.ViolatedNames(known.Violations)
	if len(names) == 0 {
		return "A mandatory policy is violated: " + bounded.Text(message, maxPolicyText)
	}
	return fmt.Sprintf("%s of mandatory policies: %s", plural.Of(int(known.Mandatory), "violation", "violations"), plural.Some(names, maxViolatedNames))
}

// DropPolicies drops what the status has of policies.
func DropPolicies(stack *v1.Stack) {
	stack.Status.Policies = nil
	deleteCondition(stack, v1.CompliantCondition)
}
