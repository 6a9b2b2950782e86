// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "iter"

// Fit returns as much of the plan as fits, with the same digest: values are cut first, then
// the properties of each step are left out, and then steps and outputs. The error is that
// of fits. If nothing fits, it returns false.
func (p Plan) Fit(fits func(Plan) (bool, error)) (Plan, bool, error) {
	if ok, err := fits(p); ok || err != nil {
		return p, ok, err
	}
	for most := range p.smaller() {
		p = p.Within(most)
		if ok, err := fits(p); ok || err != nil {
			return p, ok, err
		}
	}
	return p, false, nil
}

// smaller yields ever smaller limits for the plan.
func (p Plan) smaller() iter.Seq[Limits] {
	return func(yield func(Limits) bool) {
		most := Limits{Steps: len(p.Steps), Outputs: len(p.Outputs)}
		for _, step := range p.Steps {
			most.Properties = max(most.Properties, len(step.Properties))
		}
		for _, most.Value = range []int{1 << 10, 1 << 8, 1 << 6, 1 << 4} {
			if !yield(most) {
				return
			}
		}
		for _, most.Properties = range []int{min(most.Properties, 20), min(most.Properties, 5), 0} {
			if !yield(most) {
				return
			}
		}
		for most.Steps+most.Outputs > 0 {
			most.Steps, most.Outputs = most.Steps*3/4, most.Outputs*3/4
			if !yield(most) {
				return
			}
		}
	}
}

// sizeOfEach is about how many bytes a step, property or output takes beside its texts.
const sizeOfEach = 128

// Size is about how many bytes the plan takes.
func (p Plan) Size() int {
	bytes := sizeOfEach * (len(p.Steps) + len(p.Outputs) + len(p.Policies))
	for _, step := range p.Steps {
		bytes += len(step.URN) + len(step.Type) + len(step.Provider) + len(step.ID)
		for _, properties := range [][]Property{step.Properties, step.Options} {
			bytes += sizeOfEach * len(properties)
			for _, property := range properties {
				bytes += len(property.Path) + property.size()
			}
		}
	}
	for _, output := range p.Outputs {
		bytes += len(output.Name) + output.size()
	}
	for _, verdict := range p.Policies {
		bytes += len(verdict.URN) + len(verdict.Message)
	}
	return bytes
}

func (c Change) size() int { return len(c.Old) + len(c.New) + len(c.Digest) + len(c.Rest) }
