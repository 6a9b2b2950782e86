// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"os"
	"regexp"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// TestTheHistoryKnowsHowEachRunHasEnded: each status that the controller writes for the end of a run is one of five states, and
// only what counts as a failure of the Stack is one here.
func TestTheHistoryKnowsHowEachRunHasEnded(t *testing.T) {
	g := NewWithT(t)
	ways := []string{"Succeeded", "Proposed", "Failed", "Cancelled", "Interrupted"}
	for _, kind := range run.Kinds() {
		for _, outcome := range run.Outcomes() {
			status := outcome.Reason(kind)
			g.Expect(ways).To(ContainElement(endedAs(status)), "%s of %s: what does the page say?", outcome, kind.Title)
			g.Expect(endedAs(status) == "Failed").To(Equal(outcome.Effect().Fails), "%s of %s", outcome, kind.Title)
		}
	}
	for status, want := range map[string]string{v1.ProposedStatus: "Proposed", v1.ApprovalRequiredReason: "Proposed", v1.RecoveredStatus: "Succeeded",
		meta.ReconciliationSucceededReason: "Succeeded", v1.CancelRequestedReason: "Cancelled", v1.RunInterruptedReason: "Interrupted", "OfALaterVersion": "OfALaterVersion"} {
		g.Expect(endedAs(status)).To(Equal(want), status)
	}
	// The statuses that are no reason of a condition, by the name that the API gives them.
	text, err := os.ReadFile("../../../../api/v1/condition_types.go")
	g.Expect(err).NotTo(HaveOccurred())
	named := regexp.MustCompile(`(?m)^const \w+Status = "(\w+)"`).FindAllStringSubmatch(string(text), -1)
	g.Expect(len(named)).To(BeNumerically(">=", 2))
	for _, one := range named {
		g.Expect(ways).To(ContainElement(endedAs(one[1])), "%s: what does the page say?", one[1])
	}
}

func TestARejectedPlanSaysSo(t *testing.T) {
	g := NewWithT(t)
	stack, proposed := proposing(t)
	stack.Status.Plan.State, stack.Status.Plan.ApprovedBy, stack.Status.Plan.Message = v1.PlanRejected, "maria", "not on a Friday"
	shown := DetailOf(Input{Stack: stack, Plan: proposed}).Proposal
	g.Expect(shown.Rejected).To(BeTrue())
	g.Expect(shown.Message).To(HaveSuffix("rejected by maria: not on a Friday"))
}

// TestWhyNobodyDecidesIsSaid, if it is not that the person is not allowed to.
func TestWhyNobodyDecidesIsSaid(t *testing.T) {
	g := NewWithT(t)
	stack, proposed := proposing(t)
	g.Expect(DetailOf(Input{Stack: stack, Plan: proposed}).Proposal.MayNot).To(BeEmpty())
	unknown := DetailOf(Input{Stack: stack, Plan: proposed, Unknown: "the webhook does not answer"})
	g.Expect(unknown.Proposal.MayNot).To(Equal("It is not known whether you may approve or reject it: the webhook does not answer"))
	stack.Status.Run = &v1.RunStatus{Operation: v1.OperationUpdate, Approved: proposed.Digest()}
	g.Expect(DetailOf(Input{Stack: stack, Plan: proposed, Allowed: May{Approve: true, Reject: true}}).Proposal.MayNot).To(Equal("A run applies it"))
}
