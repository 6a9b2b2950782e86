// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// proposedWritten does the proposal of an update to a program in the lab language, and returns the plan.
func (l *lab) proposedWritten(program string) *plan.Plan {
	l.Helper()
	dir, r := l.written(program)
	r.Operation, r.PlanInputs, r.PlanKey = run.Propose, "sha256:inputs", "key"
	result := l.doWritten(l.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(result.Plan).NotTo(BeNil())
	return result.Plan
}

// approvedWritten does an update to the program, held to the plan.
func (l *lab) approvedWritten(program string, p *plan.Plan) run.Result {
	l.Helper()
	dir, r := l.written(program)
	r.PlanInputs, r.PlanKey, r.Approved = "sha256:inputs", "key", p.Digest()
	return l.doWritten(l.Context(), dir, r)
}

// A dynamic provider does not say what differs.
func TestAPlanHasTheValuesThatAProviderDoesNotName(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := withDynamic(t, dynamicProgram)
	made := l.proposedWritten(`{"dynamic": ["d"], "code": "good"}`)
	l.Expect(plan.Terminal(*made, 0, nil)).To(ContainSubstring("~ __provider: \"code\" => \"good\"\n"))
	result := l.approvedWritten(`{"dynamic": ["d"], "code": "evil"}`, made)
	l.Expect(result.Outcome).To(Equal(run.PlanChanged), result.Message)
	l.Expect(l.state()).NotTo(ContainSubstring("evil"))
	result = l.approvedWritten(`{"dynamic": ["d"], "code": "good"}`, made)
	l.Expect(result.Outcome).To(Equal(run.Succeeded), result.Message)
	l.Expect(l.state()).To(ContainSubstring("good"))
}
