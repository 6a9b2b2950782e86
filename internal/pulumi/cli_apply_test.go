// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A program makes b once the ID of a is known, which it is not in a preview. What the plan names is
// done, and the rest is proposed.
func TestAResourceMadeInApplyIsNotCreatedUnlessItIsInThePlan(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{
		"held to a plan": `{"things": ["a"], "inApply": {"a": "b"}}`,
		"with an output that Pulumi's plan cannot have": `{"things": ["a"], "inApply": {"a": "b"}, "export": ["a"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withLanguage().withStack()
			made := l.proposedWritten(program)
			l.Expect(plan.Terminal(*made, 0, nil)).NotTo(ContainSubstring("lab:index:Thing b"))
			result := l.approvedWritten(program, made)
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring("lab:index:Thing (b): create is not allowed by the plan"))
			l.Expect(result.Interrupted).To(BeFalse())
			l.Expect(l.things()).To(Equal(1))

			rest := l.proposedWritten(program)
			l.Expect(rest.Counts().Create).To(Equal(1))
			result = l.approvedWritten(program, rest)
			l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
			l.Expect(l.things()).To(Equal(2))
		})
	}
}
