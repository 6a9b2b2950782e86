// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// Proposal is a plan that a person has to decide on.
type Proposal struct {
	Digest     string `json:"digest"`
	ProposedAt string `json:"proposedAt"`
	Run        string `json:"run,omitempty"`
	Revision   string `json:"revision,omitempty"`
	// Destroy is set for the destroy of the whole stack.
	Destroy bool   `json:"destroy,omitempty"`
	Message string `json:"message,omitempty"`
}

// PlanAnswer is the plan that the Stack proposes or previews.
type PlanAnswer struct {
	Digest     string `json:"digest,omitempty"`
	ProposedAt string `json:"proposedAt,omitempty"`
	Run        string `json:"run,omitempty"`
	Revision   string `json:"revision,omitempty"`
	Plan       *Plan  `json:"plan,omitempty"`
	// Message is what a person should know of it, or why there is none.
	Message string `json:"message,omitempty"`
}

// proposalOf returns what is proposed and not approved. What was rejected can be approved all the same.
func proposalOf(in Input) *Proposal {
	of := words.Proposal(in.Stack)
	if of == nil || of.State == v1.PlanApproved {
		return nil
	}
	counts := cmp.Or(words.Counts(of.ResourceChanges, int(of.OptionChanges)), "only outputs change")
	if in.Plan != nil {
		counts = in.Plan.CountsText()
	}
	return &Proposal{Digest: name(of.Digest), ProposedAt: stamp(&of.ProposedAt), Run: name(of.Run), Revision: name(of.Revision),
		Destroy: of.Operation == v1.OperationDestroy, Message: text(strings.Join(append([]string{counts}, words.Notes(of)...), "\n"))}
}

// PlanAnswerOf returns the plan that a Stack proposes or previews, nil if it could not be read, for which why says the reason.
func PlanAnswerOf(stack *v1.Stack, read *plan.Plan, why string) PlanAnswer {
	of := words.ShownPlan(stack)
	if of == nil {
		return PlanAnswer{Message: text(words.ErrNothingProposed(stack).Error())}
	}
	answer := PlanAnswer{Digest: name(of.Digest), ProposedAt: stamp(&of.ProposedAt), Run: name(of.Run), Revision: name(of.Revision), Plan: planned(read)}
	notes := words.Notes(of)
	switch {
	case why != "":
		notes = append(notes, why)
	case read != nil:
		notes = append([]string{words.Waits(stack, of, *read)}, notes...)
	}
	answer.Message = text(strings.Join(notes, "\n"))
	return answer
}
