// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestCountsAndWhatIsDestructive(t *testing.T) {
	steps := func(ops ...string) Plan {
		p := Plan{}
		for _, op := range ops {
			p.Steps = append(p.Steps, Step{Op: op, URN: urnOf(op)})
		}
		return p
	}
	for name, test := range map[string]struct {
		plan        Plan
		text        string
		destructive bool
	}{
		"nothing":                 {Plan{}, "no changes", false},
		"an output":               {Plan{Outputs: []Output{{Name: "o"}}}, "no changes", false},
		"additions and changes":   {steps(OpCreate, OpCreate, OpUpdate, OpImport), "2 to create, 1 to import, 1 to update", false},
		"a deletion":              {steps(OpCreate, OpDelete), "1 to create, 1 to delete", true},
		"a replacement":           {steps(OpReplace), "1 to replace", true},
		"what stays in place":     {steps(OpRetain), "1 to leave in place (retainOnDelete)", false},
		"only options":            {steps(OpSame), "1 with changed options", false},
		"an unknown operation":    {steps("melt"), "1 other", true},
		"a destroy of nothing":    {Plan{Destroy: true}, "no changes", true},
		"a deletion that is left": {Plan{More: Counts{Delete: 3}}, "3 to delete", true},
		"a step that has failed":  {Plan{Steps: []Step{{Op: OpUpdate, Failed: true}}}, "no changes", true},
		"it is not tried":         {Plan{Steps: []Step{{Op: OpDelete, Failed: true}}}.Untried(), "1 to delete", true},
		"others are not tried":    {Plan{More: Counts{Failed: 2, Other: 1}}.Untried(), "3 other", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(test.plan.Counts().String()).To(Equal(test.text))
			g.Expect(test.plan.Destructive()).To(Equal(test.destructive))
		})
	}
	NewWithT(t).Expect(Plan{Outputs: []Output{{Name: "o"}}}.IsEmpty()).To(BeFalse())
	NewWithT(t).Expect(Plan{}.IsEmpty()).To(BeTrue())
}
