// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// Providers make up names for what they create, another one in each preview.
func TestAPlanIsTheSameWhateverNameAProviderMakesUp(t *testing.T) {
	g := NewWithT(t)
	made := func(size, name, goal string) plan.Plan {
		read := valueReader{key: []byte("key")}
		step := plannedStep{Step: plan.Step{Op: plan.OpCreate, URN: "urn"}, changes: []plannedChange{
			{path: "size", top: "size", kind: plan.KindAdd, new: read.value(size, true)},
			{path: "name", top: "name", kind: plan.KindAdd, new: read.value(name, true)},
		}}
		planned := plannedSteps{read: read, steps: map[string]plannedStep{"urn": step}}
		known := &goals{}
		known.changes.add(read, "urn", map[string]string{"size": goal})
		return planned.plan(mask.New(nil), known, false)
	}
	first := made("big", "bucket-1a2b", "hash of big")
	g.Expect(first.Digest()).To(Equal(made("big", "bucket-3c4d", "hash of big").Digest()))
	g.Expect(first.Digest()).NotTo(Equal(made("small", "bucket-1a2b", "hash of small").Digest()))
	g.Expect(first.Steps[0].Properties).To(ContainElement(HaveField("New", BeEquivalentTo(`"bucket-1a2b"`))), "it is shown")
}

// The config of a default provider decides where resources are made, and has no step in a plan.
func TestTheConfigOfAProviderIsAnInputOfThePlan(t *testing.T) {
	g := NewWithT(t)
	inputs := func(line string) string {
		e := events{mask: mask.New(nil)}
		e.read([]byte(line))
		return e.plugins.inputs(valueReader{key: []byte("key")}, "inputs")
	}
	of := func(region string) string {
		return inputs(`{"resourcePreEvent":{"metadata":{"op":"same","urn":"urn:pulumi:dev::app::pulumi:providers:aws::default_7_0_0",` +
			`"type":"pulumi:providers:aws","new":{"inputs":{"region":"` + region + `","version":"7.0.0"}}}}}`)
	}
	g.Expect(of("eu-west-1")).To(Equal(of("eu-west-1")))
	g.Expect(of("eu-west-1")).NotTo(Equal(of("us-east-1")))
}
