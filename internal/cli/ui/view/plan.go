// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
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
	Destroy bool `json:"destroy,omitempty"`
	// Rejected says that a person has decided so.
	Rejected bool   `json:"rejected,omitempty"`
	Message  string `json:"message,omitempty"`
	// MayNot says why the person can do nothing about it, if that is not for want of the permission.
	MayNot string `json:"mayNot,omitempty"`
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
	notes := append([]string{counts}, words.Notes(of)...)
	rejected := of.State == v1.PlanRejected
	if rejected {
		notes = append(notes, fmt.Sprintf("rejected by %s: %s", of.ApprovedBy, of.Message))
	}
	return &Proposal{Digest: name(of.Digest), ProposedAt: stamp(&of.ProposedAt), Run: name(of.Run), Revision: name(of.Revision),
		Destroy: of.Operation == v1.OperationDestroy, Rejected: rejected, Message: text(strings.Join(notes, "\n")), MayNot: text(mayNot(in, of))}
}

// mayNot says why a person can neither approve nor reject, "" if the permission is missing.
func mayNot(in Input, of *v1.PlanStatus) string {
	record := in.Stack.Status.Run
	switch {
	case in.Unknown != "":
		return "It is not known whether you may approve or reject it: " + in.Unknown
	case record != nil && record.Approved == of.Digest:
		return "A run applies it"
	}
	return ""
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
