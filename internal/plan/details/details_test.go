// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package details

import (
	"crypto/rand"
	"encoding/json"
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
