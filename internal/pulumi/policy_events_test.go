// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAllVerdictsArePartOfAPlanAndNoMessageIs(t *testing.T) {
	g := NewWithT(t)
	planOf := func(say string, resources ...int) plan.Plan {
		s := &session{mask: mask.New(nil), events: &events{}, packs: []*policyPack{{PolicyPack: run.PolicyPack{Set: "base", Name: "values"}}}}
		for _, n := range resources {
			s.events.policies.note(&apitype.PolicyEvent{
				PolicyPackName: "lab", PolicyPackVersion: "base/values", PolicyName: "old", EnforcementLevel: "advisory",
				ResourceURN: fmt.Sprintf("urn:pulumi:dev::demo::lab:index:Thing::%d", n), Message: say,
			})
		}
		var made plan.Plan
		s.addViolations(&made)
		return made
	}
	var many []int
	for n := range v1.MaxViolations + 10 {
		many = append(many, n)
	}
	made := planOf("older than 93 days", many...)
	g.Expect(made.Policies).To(HaveLen(v1.MaxViolations))
	g.Expect(made.MorePolicies).To(Equal(10))
	backward := slices.Clone(many)
	slices.Reverse(backward)
	g.Expect(planOf("older than 94 days", backward...).Digest()).To(Equal(made.Digest()))
	g.Expect(planOf("older than 93 days", append(slices.Clone(many[:len(many)-1]), 1000)...).Digest()).NotTo(Equal(made.Digest()), "another resource that is not listed")
	g.Expect(planOf("x", 1, 2).Digest()).To(Equal(planOf("y", 2, 1).Digest()))
	g.Expect(planOf("x", 1, 2).Digest()).NotTo(Equal(planOf("x", 1).Digest()))
}

// An organization of Pulumi Cloud makes exceptions: Pulumi reports such a violation, and continues.
func TestAViolationWithAnExceptionIsNotMandatory(t *testing.T) {
	g := NewWithT(t)
	log := events{mask: mask.New(nil)}
	line := log.readPolicy(&apitype.PolicyEvent{
		PolicyName: "no-open-ports", PolicyPackName: "org", EnforcementLevel: "mandatory", Message: "is open",
		Exceptions: []apitype.PolicyEventException{{ID: "EXC-42", Reason: "a bastion"}},
	})
	g.Expect(line).To(Equal("policy no-open-ports of org: is open"))
	g.Expect(log.policies.isViolated()).To(BeFalse())
	g.Expect(log.errors).To(BeEmpty())
	g.Expect(log.policies.counts[run.Advisory]).To(HaveLen(1))
}
