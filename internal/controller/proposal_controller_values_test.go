// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A provider may read a variable that nothing in the plan has, such as the account that it creates in.
func TestAnApprovedUpdateWithAnotherValueOfTheControllerHasOtherInputs(t *testing.T) {
	for name, test := range map[string]struct {
		after string
		same  bool
	}{
		"the same value": {after: "staging", same: true},
		"another value":  {after: "production"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			value := "staging"
			w := approvalWorld(t, v1.ApprovalAlways)
			w.ControllerRefs = &inputs.Controller{LookupEnv: func(string) (string, bool) { return value, true }}
			w.edit(func(s *v1.Stack) {
				s.Spec.EnvRefs = map[string]v1.ResourceRef{"AWS_PROFILE": {Type: v1.ResourceRefEnv, Env: &v1.EnvReference{Name: "AWS_PROFILE"}}}
			})
			w.mustReconcile()
			proposal := w.runner.runs[w.stack().Status.Run.ID]
			g.Expect(proposal).To(And(HaveField("Operation", run.Propose), HaveField("Env", HaveKeyWithValue("AWS_PROFILE", "staging"))))
			made := planOf(plan.OpCreate, "a")
			made.Inputs = proposal.PlanInputs
			w.endWith(run.Succeeded, made)

			value = test.after
			w.annotate(v1.ApproveAnnotation, made.Digest())
			w.mustReconcile()
			update := w.runner.runs[w.stack().Status.Run.ID]
			g.Expect(update).To(And(HaveField("Operation", run.Update), HaveField("Approved", made.Digest()), HaveField("Env", HaveKeyWithValue("AWS_PROFILE", test.after))))
			g.Expect(update.PlanInputs == proposal.PlanInputs).To(Equal(test.same), "the update compares its plan, which has them, with the approved one")
		})
	}
}
