// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A team writes the program, its project and stack settings, and the environment of the Stack. The platform team may have
// another PolicySet for the same Stack, with the same pack.
func TestNothingOfAProgramTakesPoliciesOff(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider().withStack()
	const exits = "#!/bin/sh\nexit 0\n"
	files := map[string]string{
		"Pulumi.yaml": "name: demo\nruntime: yaml\nplugins: {analyzers: [{name: lab, path: ./own}, {name: policies, path: ./own}]}\n" +
			"resources:\n  a: {type: lab:Thing, properties: {name: a, value: forbidden}}\n",
		"Pulumi.dev.yaml":           "config: {\"pulumi:policyPacks\": [], \"pulumi:disable-policies\": true}\n",
		"PulumiPolicy.yaml":         "runtime: yaml\nversion: 0.0.0\n",
		"own/pulumi-analyzer-lab":   exits,
		"own/pulumi-analyzer-0":     exits,
		"pulumi-analyzer-policies":  exits,
		".pulumi/policies.json":     "{}",
		"policy-config.json":        `{"all": "disabled"}`,
		"pulumi-language-go":        exits,
		"bin/pulumi-analyzer-lab":   exits,
		"plugins/pulumi-analyzer-0": exits,
	}
	for _, operation := range []run.Operation{run.Preview, run.Update, run.Propose} {
		r := l.ofSource()
		r.Operation, r.Program, r.PlanKey = operation, run.Program{Artifact: &run.Artifact{}}, "key"
		for _, name := range []string{"PULUMI_POLICY_PACK", "PULUMI_POLICY_PACKS", "PULUMI_POLICY_PACK_CONFIG", "PULUMI_DISABLE_POLICY_PACKS", "PULUMI_POLICY_ENFORCEMENT_LEVEL"} {
			r.Env[name] = "disabled"
		}
		dir := Directory(l.TempDir())
		writeTree(t, dir.Workspace(), files)
		result := l.guardedIn(t.Context(), dir, r, l.labPackFiles(), labPack("base", "values", ""), labPack("later", "values", `{"all":{"enforcementLevel":"disabled"}}`))
		l.Expect(result.Outcome).To(Equal(run.PolicyViolation), "%s: %s", operation, result.Message)
		l.Expect(result.Message).To(ContainSubstring("policy no-forbidden-values of pack values in PolicySet base"))
		l.Expect(result.Violations.Mandatory).To(Equal(map[string]int{"base": 1}), "that of the other PolicySet is disabled, and only that")
		l.Expect(l.things()).To(BeZero())
	}
}

func TestARemediationIsPartOfThePlan(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	l.given(l.thing("value: x"))
	r := l.update(l.thing("value: dirty"))
	r.Operation, r.PlanKey, r.PlanInputs = run.Propose, "key", "inputs"
	result := l.guarded(t.Context(), r, nil, labPack("base", "values", ""))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(plan.Terminal(*result.Plan, 0, nil)).To(And(ContainSubstring(`~ value: "x" => "clean"`), Not(ContainSubstring("dirty"))), "the diff has what will be")
	l.Expect(l.saidLines()).To(ContainElement("lab:index:Thing (a): corrected by policy clean-values of lab"))

	r.ID += "-applied"
	r.Operation, r.Approved = run.Update, result.Plan.Digest()
	result = l.guarded(t.Context(), r, nil, labPack("base", "values", ""))
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.valueOf("a")).To(Equal("clean"))
}
