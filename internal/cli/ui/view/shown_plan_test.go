// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

func rawText(text string) json.RawMessage { return json.RawMessage(`"` + text + `"`) }

// opening opens a network to such addresses, deletes a database, and violates a policy.
func opening(to string) plan.Plan {
	urn := func(name string) string { return "urn:pulumi:dev::network::lab:index:Thing::" + name }
	return plan.Plan{
		Steps: []plan.Step{
			{Op: plan.OpDelete, URN: urn("database"), Type: "lab"},
			{Op: plan.OpUpdate, URN: urn("open"), Type: "lab", Properties: []plan.Property{{Path: "cidr", Kind: plan.KindUpdate, Change: plan.Change{Old: rawText("10.0.0.0/8"), New: rawText(to)}}},
				Options: []plan.Property{{Path: "provider", Kind: plan.KindUpdate, Change: plan.Change{Old: rawText("a"), New: rawText(to)}}}},
		},
		Outputs:  []plan.Output{{Name: "url", Change: plan.Change{Old: rawText("a"), New: rawText(to)}}},
		Policies: []plan.Policy{{Pack: "guard", Name: "no-public-access", Level: "mandatory", URN: urn("open")}}, State: "sha256:state",
	}
}

// asJSON is the answer with a plan, as the browser reads it.
func asJSON(t *testing.T, shown *Plan) string {
	t.Helper()
	data, err := json.Marshal(PlanAnswer{Plan: shown})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// TestAForgedPlanSaysOnThePageWhatItDoesNotShow: who writes the plan of a program can leave out what it would do, or show another
// value, so that the digest that a person approves stays the same. The page shows it with a mark.
func TestAForgedPlanSaysOnThePageWhatItDoesNotShow(t *testing.T) {
	long := "0.0.0.0/0, " + strings.Repeat("and all others, ", 20)
	within := func(steps, properties, outputs, value int) plan.Plan {
		return opening(long).Within(plan.Limits{Steps: steps, Properties: properties, Outputs: outputs, Value: value})
	}
	forgedChange := func(change *plan.Change) { change.Old, change.New = rawText("10.0.0.0/8"), rawText("10.0.0.0/16") }
	const mark = `"notShown":true`
	for name, test := range map[string]struct {
		limits func() plan.Plan
		forge  func(p *plan.Plan)
		want   string
	}{
		"no steps":                {func() plan.Plan { return within(0, 9, 9, 9000) }, func(p *plan.Plan) {}, "Not listed: 2 resources"},
		"steps with other counts": {func() plan.Plan { return within(0, 9, 9, 9000) }, func(p *plan.Plan) { p.More = plan.Counts{Options: 2} }, "Not listed: 2 resources"},
		"one step":                {func() plan.Plan { return within(1, 9, 9, 9000) }, func(p *plan.Plan) {}, "Not listed: 1 resource"},
		"no outputs":              {func() plan.Plan { return within(9, 9, 0, 9000) }, func(p *plan.Plan) {}, "Not listed: 1 output"},
		"no properties":           {func() plan.Plan { return within(9, 0, 9, 9000) }, func(p *plan.Plan) {}, "Not listed: 1 property"},
		"no violations": {func() plan.Plan { return within(9, 9, 9, 9000) }, func(p *plan.Plan) {
			p.PoliciesDigest, p.Policies, p.MorePolicies = plan.DigestOfPolicies(p.Policies), nil, 1
		}, "Not listed: 1 violation of policies"},
		"another value":                {func() plan.Plan { return within(9, 9, 9, 40) }, func(p *plan.Plan) { forgedChange(&p.Steps[1].Properties[0].Change) }, mark},
		"an unknown value":             {func() plan.Plan { return within(9, 9, 9, 40) }, func(p *plan.Plan) { p.Steps[1].Properties[0].New = rawText("[unknown]") }, mark},
		"no value":                     {func() plan.Plan { return within(9, 9, 9, 40) }, func(p *plan.Plan) { p.Steps[1].Properties[0].Old, p.Steps[1].Properties[0].New = nil, nil }, mark},
		"another value of an option":   {func() plan.Plan { return within(9, 9, 9, 40) }, func(p *plan.Plan) { forgedChange(&p.Steps[1].Options[0].Change) }, mark},
		"another value of the outputs": {func() plan.Plan { return within(9, 9, 9, 40) }, func(p *plan.Plan) { forgedChange(&p.Outputs[0].Change) }, mark},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			forged, real := test.limits(), opening(long)
			test.forge(&forged)
			if forged.MorePolicies == 0 { // a plan with too many violations has another digest of them
				g.Expect(forged.Bounded().Digest()).To(Equal(real.Digest()), "the forger chose it so")
			}
			shown := asJSON(t, planned(&forged))
			g.Expect(shown).To(And(ContainSubstring(test.want), ContainSubstring("which may be anything")))
			g.Expect(shown).NotTo(ContainSubstring(`"digest"`))
		})
	}
}

func TestOnlyWhatIsNotShownHasTheMark(t *testing.T) {
	g := NewWithT(t)
	honest := opening("10.0.0.0/16")
	g.Expect(asJSON(t, planned(&honest))).NotTo(Or(ContainSubstring("notShown"), ContainSubstring("warnings")))
	cut := honest.Within(plan.Limits{Steps: 9, Properties: 9, Outputs: 9, Value: 10})
	shown := planned(&cut)
	g.Expect(shown.Steps[1].Properties[0].NotShown).To(BeTrue())
	g.Expect(shown.Steps[1].Options[0].NotShown).To(BeTrue())
	g.Expect(shown.Outputs[0].NotShown).To(BeTrue())
	g.Expect(shown.Warnings).To(Equal([]string{`The digest is also of the values that are "not shown in full", which may be anything`}))
	g.Expect(cut.Steps[1].Properties[0].Digest).NotTo(BeEmpty(), "the plan stays as it is")
}

// TestTheCountsOfAPlanAreThoseOfAllItsSteps: steps are listed by name, and a deletion may be after those that there is room for.
func TestTheCountsOfAPlanAreThoseOfAllItsSteps(t *testing.T) {
	g := NewWithT(t)
	large := opening("10.0.0.0/16")
	large.Steps[0].URN += "-z"
	for n := range large.Steps {
		large.Steps[n].URN = strings.ReplaceAll(large.Steps[n].URN, "::database", "::zone")
	}
	large = large.Within(plan.Limits{Steps: 1, Properties: 9, Outputs: 9, Value: 9000})
	stack := stackOf(t, "fleet", "network")
	stack.Status.Plan = &v1.PlanStatus{Digest: large.Digest(), State: v1.PlanProposed, Operation: v1.OperationUpdate}
	answer := PlanAnswerOf(stack, &large, "")
	g.Expect(answer.Plan.Steps).To(HaveLen(1))
	g.Expect(answer.Plan.Steps[0].Op).To(Equal(plan.OpUpdate))
	g.Expect(answer.Plan.Counts).To(Equal(plan.Counts{Update: 1, Delete: 1}))
	g.Expect(answer.Plan.Warnings).To(ConsistOf(HavePrefix("Not listed: 1 resource. The digest is also of these")))
	g.Expect(done(&large).Warnings).To(Equal([]string{"Not listed: 1 resource"}), "nobody approves what was done")
	g.Expect(DriftAnswerOf(&large, "").Plan.Warnings).To(Equal([]string{"Not listed: 1 resource"}))
	g.Expect(done(nil)).To(BeNil())
}
