// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package details

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// changed returns a plan with that many changed resources, whose values are random: these
// are what compression cannot shrink.
func changed(resources, properties int) plan.Plan {
	value := func() json.RawMessage { return json.RawMessage(`"sg-` + rand.Text() + `"`) }
	p := plan.Plan{Inputs: "sha256:1", State: "sha256:2", Versions: map[string]string{"pulumi": "3.259.0"}}
	for n := range resources {
		step := plan.Step{
			Op:       plan.OpUpdate,
			URN:      fmt.Sprintf("urn:pulumi:production::platform::platform:index:Service$aws:ec2/securityGroupRule:SecurityGroupRule::service-%05d", n),
			Type:     "aws:ec2/securityGroupRule:SecurityGroupRule",
			Provider: "urn:pulumi:production::platform::pulumi:providers:aws::default_7_1_0",
		}
		for m := range properties {
			step.Properties = append(step.Properties, plan.Property{
				Path: fmt.Sprintf("tags.example.com/%d", m), Kind: plan.KindUpdate, Change: plan.Change{Old: value(), New: value()},
			})
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}

func TestFiveThousandChangedResourcesFit(t *testing.T) {
	for _, properties := range []int{1, 8} {
		t.Run(fmt.Sprintf("%d properties each", properties), func(t *testing.T) {
			g := NewWithT(t)
			p := changed(5000, properties)
			parts, err := Encode(p)
			g.Expect(err).NotTo(HaveOccurred())
			total := 0
			for _, part := range parts {
				g.Expect(len(part)).To(BeNumerically("<=", maxPart))
				total += len(part)
			}
			t.Logf("5,000 resources with %d changed properties each take %d KiB in %d ConfigMaps", properties, total>>10, len(parts))
			read, err := Decode(parts)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(read.Steps).To(HaveLen(5000))
			g.Expect(read.Steps[4999]).To(Equal(p.Steps[4999]), "nothing is cut")
			g.Expect(read.Digest()).To(Equal(p.Digest()))
			again, err := Encode(read)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(Digest(again)).To(Equal(Digest(parts)), "the same plan is no write")
		})
	}
}

func TestAPlanThatIsTooLargeIsCut(t *testing.T) {
	p := changed(300, 30)
	for _, part := range []int{20 << 10, 4 << 10, 1 << 10} {
		t.Run(fmt.Sprintf("%d bytes", part), func(t *testing.T) {
			g := NewWithT(t)
			parts, err := encode(p, part)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(parts)).To(BeNumerically("<=", MaxParts))
			read, err := Decode(parts)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(read.Steps[0].Properties)).To(BeNumerically("<", 30))
			g.Expect(read.Digest()).To(Equal(p.Digest()))
			g.Expect(read.Counts()).To(Equal(p.Counts()))
		})
	}
	_, err := encode(p, 10)
	NewWithT(t).Expect(err).To(MatchError("the plan cannot be made small enough"))
}

func TestPartsThatAreMissingAreNoPlan(t *testing.T) {
	g := NewWithT(t)
	parts, err := encode(changed(100, 5), 2<<10)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(parts)).To(BeNumerically(">", 2))
	_, err = Decode(parts[:len(parts)-1])
	g.Expect(err).To(MatchError(ContainSubstring("reading the plan in the ConfigMap: ")))
	_, err = Decode(parts[1:])
	g.Expect(err).To(HaveOccurred())
	_, err = Decode(nil)
	g.Expect(err).To(HaveOccurred())
}

func TestPartsAreCollected(t *testing.T) {
	read := func(kept map[string]Part) func(string) (Part, error) {
		return func(name string) (Part, error) {
			part, there := kept[name]
			if !there {
				return Part{}, errors.New(name + " is missing")
			}
			return part, nil
		}
	}
	count := func(parts string) map[string]string { return map[string]string{PartsAnnotation: parts} }
	for name, test := range map[string]struct {
		kept  map[string]Part
		parts []string
		err   string
	}{
		"one":               {kept: map[string]Part{"a-1": {Data: []byte("x")}}, parts: []string{"x"}},
		"two":               {kept: map[string]Part{"a-1": {count("2"), []byte("x")}, "a-2": {nil, []byte("y")}, "a-3": {}}, parts: []string{"x", "y"}},
		"a missing one":     {kept: map[string]Part{"a-1": {count("3"), nil}, "a-2": {}}, err: "a-3 is missing"},
		"a number too high": {kept: map[string]Part{"a-1": {count("9000"), nil}, "a-2": {}, "a-3": {}, "a-4": {}, "a-5": {}, "a-6": {}, "a-7": {}, "a-8": {}}, parts: make([]string, 8)},
		"no number":         {kept: map[string]Part{"a-1": {count("-1"), []byte("x")}}, parts: []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := Collect("a-1", read(test.kept))
			if test.err != "" {
				g.Expect(err).To(MatchError(test.err))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			var texts []string
			for _, one := range got {
				texts = append(texts, string(one))
			}
			g.Expect(texts).To(Equal(test.parts))
		})
	}
}
