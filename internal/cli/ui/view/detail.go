// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// Input is what the server has read of a Stack. All but the Stack may be missing.
type Input struct {
	Stack *v1.Stack
	// Explained is what the controller would do, nil if that is not known.
	Explained *observe.Explanation
	// Records of the runs. Without them, the history is that of the status.
	Records *records.Records
	// Plan is what is proposed, in full.
	Plan *plan.Plan
	// Progress of the run in flight, nil if the server has not followed its log.
	Progress *Progress
	// Allowed is what the API server lets the person do, whether or not it makes sense now.
	Allowed May
	// Unknown says why it is not known what is allowed, "" if it is.
	Unknown string
	// Warnings say what could not be read.
	Warnings []string
	Now      time.Time
}

// Detail is all that is known of a Stack.
type Detail struct {
	Stack Row `json:"stack"`
	// Next says what happens next.
	Next       string      `json:"next,omitempty"`
	Conditions []Condition `json:"conditions,omitempty"`
	// Checks are those of the controller, and Values the inputs of a run.
	Checks   []Check  `json:"checks,omitempty"`
	Values   []Value  `json:"values,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Run is the one in flight.
	Run *Run `json:"run,omitempty"`
	// Proposal is the plan that a person has to decide on, or has rejected. HasPlan is also set for one that is only previewed.
	Proposal *Proposal `json:"proposal,omitempty"`
	HasPlan  bool      `json:"hasPlan,omitempty"`
	// Preview is what a person has asked for.
	Preview *Preview   `json:"preview,omitempty"`
	Spec    []Fact     `json:"spec,omitempty"`
	Outputs Outputs    `json:"outputs,omitzero"`
	History []EndedRun `json:"history,omitempty"`
	Drift   *Drift     `json:"drift,omitempty"`
	May     May        `json:"may"`
}

// Condition is a condition of the status.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// State is the one that the condition is shown in, if its status alone does not say so.
	State string `json:"state,omitempty"`
	Since string `json:"since,omitempty"`
}

// Check is what a rule of the controller looks at, finds there, and says.
type Check struct {
	About   string `json:"about"`
	Found   string `json:"found"`
	Says    string `json:"says"`
	Decides bool   `json:"decides,omitempty"`
}

// Value is an input of a run. A secret is masked.
type Value struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// Fact is a part of the spec.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// DetailOf returns the detail of a Stack.
func DetailOf(in Input) Detail {
	stack := in.Stack
	detail := Detail{
		Stack: RowOf(stack), Next: text(next(in)), Conditions: conditions(stack), Run: runOf(in), Proposal: proposalOf(in), Spec: facts(stack),
		Outputs: outputsOf(stack), History: HistoryOf(entriesOf(in)), Drift: driftOf(stack), May: in.Allowed.Now(stack),
	}
	for _, warning := range first(in.Warnings) {
		detail.Warnings = append(detail.Warnings, text(warning))
	}
	detail.HasPlan, detail.Preview = words.ShownPlan(stack) != nil, previewOf(stack)
	if in.Explained != nil {
		detail.explain(in.Explained)
	}
	return detail
}

func (d *Detail) explain(explained *observe.Explanation) {
	for _, one := range first(words.Checks(explained)) {
		d.Checks = append(d.Checks, Check{About: name(one.About), Found: text(one.Found), Says: name(one.Says), Decides: one.Decides})
	}
	for _, one := range first(explained.Values) {
		d.Values = append(d.Values, Value{Kind: name(one.Kind), Name: name(one.Name), Value: text(one.Value), From: name(one.From)})
	}
	for _, one := range first(words.Unknown(explained)) {
		d.Warnings = append(d.Warnings, text(one))
	}
}

// next says what happens next: what a Stack waits for in the words of its status, what follows the run in flight, and else
// what the controller decides.
func next(in Input) string {
	if of := words.Proposal(in.Stack); of != nil && in.Plan != nil && of.State != v1.PlanApproved {
		return words.Waits(in.Stack, of, *in.Plan)
	}
	if in.Stack.Status.Run != nil {
		return words.Continues(in.Stack)
	}
	if queued := rows.PreviewQueued(in.Stack); queued != "" {
		return queued
	}
	if in.Explained == nil {
		return ""
	}
	return words.Next(in.Explained)
}

// conditions has Ready first, and then the others in the order of the status.
func conditions(stack *v1.Stack) []Condition {
	var list []Condition
	for _, one := range first(stack.Status.Conditions) {
		shown := Condition{Type: name(one.Type), Status: name(string(one.Status)), Reason: name(one.Reason), Message: text(one.Message), Since: stamp(&one.LastTransitionTime)}
		if one.Type != meta.ReadyCondition {
			list = append(list, shown)
			continue
		}
		if waits(stack) {
			shown.State = Waiting
		} else if shown.Status == "False" && !hasFailed(stack) {
			shown.State = Unknown
		}
		list = slices.Insert(list, 0, shown)
	}
	return list
}

func entriesOf(in Input) meta.History {
	if in.Records != nil {
		return in.Records.Entries
	}
	return in.Stack.Status.History
}
