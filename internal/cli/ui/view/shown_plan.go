// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import "github.com/flux-pulumi/pulumi-controller/internal/plan"

// Plan is a plan within its bounds, and without the digests of its values, which nobody sees. What they are of and is not shown
// has a mark in their place.
type Plan struct {
	fieldsOfPlan
	Steps   []PlanStep   `json:"steps,omitempty"`
	Outputs []PlanOutput `json:"outputs,omitempty"`
	// Counts are those of all steps, also of those that are not listed.
	Counts plan.Counts `json:"counts,omitzero"`
	// Warnings say what of it is not shown.
	Warnings []string `json:"warnings,omitempty"`
}

// The fields without the methods, of which those that read JSON know no marks.
type (
	fieldsOfPlan plan.Plan
	fieldsOfStep plan.Step
)

// PlanStep is a step of a plan.
type PlanStep struct {
	fieldsOfStep
	Properties []PlanProperty `json:"properties,omitempty"`
	Options    []PlanProperty `json:"options,omitempty"`
}

// PlanProperty is a property, or an option, of a step.
type PlanProperty struct {
	plan.Property
	// NotShown says that the digest of the plan is of more than the values that are shown.
	NotShown bool `json:"notShown,omitempty"`
}

// PlanOutput is an output of a plan.
type PlanOutput struct {
	plan.Output
	// NotShown is that of PlanProperty.
	NotShown bool `json:"notShown,omitempty"`
}

// planned returns a plan that a person may approve, nil if there is none.
func planned(read *plan.Plan) *Plan {
	shown := shownPlan(read)
	if shown != nil {
		shown.Warnings = read.Bounded().Unproven()
	}
	return shown
}

// done returns what was done or found, nil if that is not known.
func done(read *plan.Plan) *Plan {
	shown := shownPlan(read)
	if shown == nil {
		return nil
	}
	if left := read.Bounded().NotListed(); left != "" {
		shown.Warnings = []string{"Not listed: " + left}
	}
	return shown
}

func shownPlan(read *plan.Plan) *Plan {
	if read == nil {
		return nil
	}
	proven := read.Bounded()
	less := proven.WithoutDigests()
	shown := &Plan{fieldsOfPlan: fieldsOfPlan(less), Counts: proven.Counts()}
	for n, step := range less.Steps {
		shown.Steps = append(shown.Steps, PlanStep{fieldsOfStep: fieldsOfStep(step),
			Properties: shownProperties(proven.Steps[n].Properties, step.Properties), Options: shownProperties(proven.Steps[n].Options, step.Options)})
	}
	for n, output := range less.Outputs {
		shown.Outputs = append(shown.Outputs, PlanOutput{Output: output, NotShown: !proven.Outputs[n].IsProven()})
	}
	return shown
}

// shownProperties marks those that are not shown in full, which only their digests say.
func shownProperties(proven, shown []plan.Property) []PlanProperty {
	var list []PlanProperty
	for n, one := range shown {
		list = append(list, PlanProperty{Property: one, NotShown: !proven[n].IsProven()})
	}
	return list
}
