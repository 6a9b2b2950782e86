// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

func TestWhatAPreviewSays(t *testing.T) {
	ended := at("2026-03-02T10:15:42Z")
	found := opening("10.0.0.0/16")
	const another = "Another preview is asked for. This is the one before\n"
	for name, test := range map[string]struct {
		asked string
		of    *v1.PreviewStatus
		read  *plan.Plan
		why   string
		want  string
	}{
		"nothing":       {want: "Nobody has asked for a preview of this Stack"},
		"asked for":     {asked: "1", want: "The preview is asked for"},
		"running":       {asked: "1", of: &v1.PreviewStatus{Request: "1", Run: "01"}, want: "The preview is running"},
		"queued":        {asked: "1", of: &v1.PreviewStatus{Request: "1", Message: "3 runs are before it"}, want: "The preview is queued: 3 runs are before it"},
		"failed":        {asked: "1", of: &v1.PreviewStatus{Request: "1", EndedAt: &ended}, why: "preview failed: x", want: "preview failed: x"},
		"done":          {asked: "1", of: &v1.PreviewStatus{Request: "1", EndedAt: &ended}, read: &found, want: "An update would change this: 1 to update, 1 to delete"},
		"no changes":    {asked: "1", of: &v1.PreviewStatus{Request: "1", EndedAt: &ended}, read: &plan.Plan{}, want: "An update would change nothing"},
		"a later one":   {asked: "2", of: &v1.PreviewStatus{Request: "1", EndedAt: &ended}, read: &found, want: another + "An update would change this: 1 to update, 1 to delete"},
		"of no request": {of: &v1.PreviewStatus{Request: "1", EndedAt: &ended}, read: &plan.Plan{}, want: "An update would change nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := stackOf(t, "fleet", "network")
			stack.Status.Run = nil
			stack.Status.Preview = test.of
			if test.asked != "" {
				stack.Annotations = map[string]string{v1.PreviewRequestAnnotation: test.asked}
			}
			answer := PreviewAnswerOf(stack, test.read, test.why)
			g.Expect(answer.Message).To(Equal(test.want))
			g.Expect(answer.Plan != nil).To(Equal(test.read != nil))
			g.Expect(DetailOf(Input{Stack: stack}).Preview != nil).To(Equal(test.asked != "" || test.of != nil), "the tab")
		})
	}
}

func TestWhichStacksHaveAPlanToShow(t *testing.T) {
	g := NewWithT(t)
	stack, _ := proposing(t)
	for state, want := range map[v1.PlanState]bool{v1.PlanProposed: true, v1.PlanPreviewed: true, v1.PlanRejected: true, v1.PlanApproved: true, v1.PlanApplied: false} {
		stack.Status.Plan.State = state
		g.Expect(DetailOf(Input{Stack: stack}).HasPlan).To(Equal(want), string(state))
	}
	stack.Status.Plan = nil
	g.Expect(DetailOf(Input{Stack: stack}).HasPlan).To(BeFalse())
}
