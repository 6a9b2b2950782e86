// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// checkOf is the record of a run that checks the policies.
func checkOf(operation v1.Operation, sets ...string) *v1.RunStatus {
	record := &v1.RunStatus{ID: "1", Operation: operation, Policies: &v1.RunPolicies{Digest: "sha256:packs", Checks: "sha256:checks"}}
	for _, set := range sets {
		record.Policies.Sets = append(record.Policies.Sets, v1.RunPolicySet{Name: set, Digest: "sha256:" + set})
	}
	return record
}

// violations are as many of one mandatory policy, each with texts of that length.
func violations(n, length int) run.Violations {
	found := run.Violations{Mandatory: map[string]int{"guard": n}}
	for i := range n {
		found.Listed = append(found.Listed, run.Violation{
			Set: "guard", Pack: "tags", Policy: "required-tags", Level: run.Mandatory,
			Resource: fmt.Sprintf("urn:%03d%s", i, strings.Repeat("r", length)), Message: strings.Repeat("m", length),
		})
	}
	return found
}

func TestWhatTheStatusSaysOfPoliciesIsBoundedAndInOrder(t *testing.T) {
	g := NewWithT(t)
	stack, found := &v1.Stack{}, violations(200, 10_000)
	slices.Reverse(found.Listed)
	found.Listed = append([]run.Violation{{Set: "a", Pack: "p", Policy: "naming", Level: run.Advisory}}, found.Listed...)
	found.Advisory = map[string]int{"a": 1}
	var sets []string
	for i := range 100 {
		sets = append(sets, fmt.Sprintf("set-%d", i))
	}
	stack.Status.Run = checkOf(run.CheckPolicies, sets...)
	stack.Status.Run.Policies.Sets = stack.Status.Run.Policies.Sets[:v1.MaxPolicySets]
	AbsorbResult(stack, &run.Result{Outcome: run.PolicyViolation, Operation: run.CheckPolicies, Violations: found})
	known := stack.Status.Policies
	g.Expect(known.Mandatory).To(BeEquivalentTo(200))
	g.Expect(known.Advisory).To(BeEquivalentTo(1))
	g.Expect(known.Sets).To(HaveLen(v1.MaxPolicySets))
	g.Expect(known.Violations).To(HaveLen(v1.MaxViolations))
	for i, v := range known.Violations {
		g.Expect(v.Resource).To(HavePrefix(fmt.Sprintf("urn:%03d", i)))
		g.Expect(len(v.Resource)).To(BeNumerically("<=", maxPolicyName))
		g.Expect(len(v.Message)).To(BeNumerically("<=", maxViolationText))
	}
	g.Expect(getCondition(stack, v1.CompliantCondition).Message).To(Equal("200 violations of mandatory policies: guard/tags/required-tags"))
}

func TestOnlyAVerdictOnAllPacksCountsAsACheck(t *testing.T) {
	for name, test := range map[string]struct {
		record *v1.RunStatus
		result run.Result
		reason string
	}{
		"an update with all packs":               {checkOf(run.Update, "guard"), run.Result{Outcome: run.Succeeded}, v1.PoliciesPassedReason},
		"an update that violates one":            {checkOf(run.Update, "guard"), run.Result{Outcome: run.PolicyViolation, Violations: violations(1, 1)}, v1.PolicyViolationReason},
		"one whose violations are lost":          {checkOf(run.Update, "guard"), run.Result{Outcome: run.PolicyViolation, Message: "no owner"}, v1.PolicyViolationReason},
		"an update without a pack":               {checkOf(run.Update, "guard"), run.Result{Outcome: run.PolicyPackFailed, Message: "no node"}, v1.PolicyCheckFailedReason},
		"an update that failed":                  {checkOf(run.Update, "guard"), run.Result{Outcome: run.Failed}, ""},
		"an update without packs":                {&v1.RunStatus{Operation: run.Update}, run.Result{Outcome: run.Succeeded}, ""},
		"an update with some of them":            {&v1.RunStatus{Operation: run.Update, Policies: &v1.RunPolicies{Digest: "a"}}, run.Result{Outcome: run.PolicyViolation}, ""},
		"a check":                                {checkOf(run.CheckPolicies, "guard"), run.Result{Outcome: run.Succeeded}, v1.PoliciesPassedReason},
		"a check that failed":                    {checkOf(run.CheckPolicies, "guard"), run.Result{Outcome: run.Failed}, v1.PolicyCheckFailedReason},
		"a check that was stopped":               {checkOf(run.CheckPolicies, "guard"), run.Result{Outcome: run.Cancelled}, ""},
		"a check of a later version":             {&v1.RunStatus{Operation: run.CheckPolicies}, run.Result{Outcome: run.Succeeded}, v1.PoliciesPassedReason},
		"a check by a pod that does not know it": {checkOf(run.CheckPolicies, "guard"), run.Result{Outcome: run.Failed, Message: "too old"}, v1.PolicyCheckFailedReason},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := &v1.Stack{}
			stack.Status.Run = test.record
			AbsorbResult(stack, &test.result)
			g.Expect(reasonOf(stack, v1.CompliantCondition)).To(Equal(test.reason))
			if test.reason == "" {
				g.Expect(stack.Status.Policies).To(BeNil())
			}
			if test.record.Operation == run.CheckPolicies {
				g.Expect(stack.Status.LastRun).To(BeNil(), "it is no reconcile")
				g.Expect(getCondition(stack, "Ready")).To(BeNil())
			}
		})
	}
}

func TestACheckThatIsCancelledOnRequestIsNotRepeated(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Status.Run = checkOf(run.CheckPolicies, "guard")
	stack.Status.Run.Cancel = v1.CancelNow
	AbsorbResult(stack, &run.Result{Outcome: run.Cancelled})
	g.Expect(stack.Status.Policies).To(And(HaveField("Digest", "sha256:checks"), HaveField("Failures", BeZero())))
	g.Expect(getCondition(stack, v1.CompliantCondition).Message).To(ContainSubstring("cancelled on request"))
}

func TestACheckWhoseControllerIsGoneHasFailed(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Status.Run = checkOf(run.CheckPolicies, "guard")
	MarkInterrupted(stack, "the controller is gone", time.Now())
	g.Expect(stack.Status.Policies).To(And(HaveField("Digest", "sha256:checks"), HaveField("Failures", BeEquivalentTo(1))))
	g.Expect(stack.Status.Interrupted).To(BeEmpty())
}

// A pod of an earlier version would run an update without the packs, if it could.
func TestAnUpdateWithPacksIsKnownByWhatItReports(t *testing.T) {
	g := NewWithT(t)
	record := checkOf(run.Update, "guard")
	got := Classify(&v1.Stack{}, record, &run.Result{Outcome: run.Succeeded})
	g.Expect(got.Outcome).To(Equal(run.Failed))
	g.Expect(got.Message).To(And(ContainSubstring("the operation update with policy packs"), ContainSubstring("--runner-image")))
	g.Expect(Classify(&v1.Stack{}, record, &run.Result{Outcome: run.Succeeded, Operation: run.Update}).Outcome).To(Equal(run.Succeeded))
}

// A program can write the result of its pod.
func TestViolationsOfPacksThatTheRunDidNotHaveDoNotCount(t *testing.T) {
	g := NewWithT(t)
	forged := &run.Result{Outcome: run.Succeeded, Operation: run.Update, Violations: run.Violations{
		Listed:    []run.Violation{{Set: "guard", Policy: "a"}, {Set: "made-up", Policy: "b"}, {Policy: "of an organization"}},
		Mandatory: map[string]int{"guard": 1, "made-up": 2}, Advisory: map[string]int{"": 3},
	}}
	got := Classify(&v1.Stack{}, checkOf(run.Update, "guard"), forged)
	g.Expect(got.Violations).To(Equal(run.Violations{
		Listed:    []run.Violation{{Set: "guard", Policy: "a"}, {Policy: "of an organization"}},
		Mandatory: map[string]int{"guard": 1}, Advisory: map[string]int{"": 3},
	}))
	g.Expect(forged.Violations.Listed).To(HaveLen(3), "the result itself is not changed")
	unguarded := Classify(&v1.Stack{}, &v1.RunStatus{Operation: run.Update}, forged)
	g.Expect(unguarded.Violations.Listed).To(BeEmpty())
	g.Expect(unguarded.Violations.Mandatory).To(BeEmpty())
}

func TestARefusedResultKeepsWhichPoliciesAreViolated(t *testing.T) {
	g := NewWithT(t)
	result := &run.Result{Violations: violations(2, 10)}
	small := WithoutDetails(result, fmt.Errorf("too large"))
	g.Expect(small.Violations.Listed).To(HaveEach(HaveField("Message", "")))
	g.Expect(small.Violations.Listed).To(HaveLen(2))
	g.Expect(result.Violations.Listed[0].Message).NotTo(BeEmpty(), "the result itself is not changed")
	least := WithoutReason(result, time.Now(), time.Now())
	g.Expect(least.Violations.Listed).To(BeEmpty())
	g.Expect(least.Violations.Mandatory).To(HaveKeyWithValue("guard", 2))
}

func TestAnOldPodIsNamedWithAllThatItDoesNotKnow(t *testing.T) {
	record := checkOf(run.Update)
	record.Approved = "sha256:plan"
	NewWithT(t).Expect(oldPodText(record)).To(ContainSubstring("too old for an approved update with policy packs."))
}
