// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

func TestWhatIsTooLargeForAPlanIsRefused(t *testing.T) {
	t.Parallel()
	named := func(count int) autonames {
		names := autonames{byText: map[string]string{}}
		for n := range count {
			names.byText[fmt.Sprint("name", n)] = "urn"
		}
		return names
	}
	for name, test := range map[string]struct {
		change func(s *session)
		want   string
	}{
		"a plan": {func(s *session) { s.goals.names = named(1) }, ""},
		"a large plan without names that are made up": {func(s *session) { s.goals.tooLarge = true }, ""},
		"a large plan with one": {func(s *session) { s.goals.tooLarge, s.goals.names = true, named(1) },
			"larger than 64 MiB, and new resources in it have names that their providers make up"},
		"too many of them": {func(s *session) { s.goals.names = named(maxKeptGoals) }, "more than 100000 new resources have names"},
		"a destroy":        {func(s *session) { s.goals = nil }, ""},
		"too many resources": {func(s *session) { s.events.counts.over = true },
			"the stack has more than 100000 resources, which are too many to say what an update would change"},
		"too many steps":          {func(s *session) { s.events.planned.leftOut = 1 }, "more than 100000 resources"},
		"too many steps to watch": {func(s *session) { s.events.previewed = &approvedSteps{over: true} }, "more than 100000 resources"},
		"events that are missed":  {func(s *session) { s.events.missed, s.events.counts.over = true, true }, "Pulumi's events are incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &session{goals: &goals{}, events: &events{mask: mask.New(nil), planned: &plannedSteps{}, summary: &apitype.SummaryEvent{}}}
			test.change(s)
			if test.want == "" {
				NewWithT(t).Expect(s.notPlanned()).To(BeEmpty())
				return
			}
			NewWithT(t).Expect(s.notPlanned()).To(ContainSubstring(test.want))
		})
	}
}
