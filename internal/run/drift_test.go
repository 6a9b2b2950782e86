// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

func TestWhetherAResourceIsCreatedAgainToUndoDrift(t *testing.T) {
	for name, test := range map[string]struct {
		found plan.Plan
		want  bool
	}{
		"nothing has drifted":         {plan.Plan{}, false},
		"a change":                    {plan.Plan{Steps: []plan.Step{{Op: plan.OpUpdate, Properties: []plan.Property{{Path: "a"}}}}}, false},
		"a change that replaces it":   {plan.Plan{Steps: []plan.Step{{Op: plan.OpUpdate, Properties: []plan.Property{{Path: "a"}, {Path: "b", Replaces: true}}}}}, true},
		"changes that are not listed": {plan.Plan{Steps: []plan.Step{{Op: plan.OpUpdate, MoreProperties: 1}}}, true},
		"one that is gone":            {plan.Plan{Steps: []plan.Step{{Op: plan.OpUpdate}, {Op: plan.OpDelete}}}, true},
		"one that is not listed":      {plan.Plan{More: plan.Counts{Update: 1, Delete: 1}}, true},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(Drift{Found: test.found}.Recreates()).To(Equal(test.want)) })
	}
}
