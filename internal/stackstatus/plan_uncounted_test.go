// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// An approval stays where it was given once its plan is applied.
func TestAnApprovalThatWasUsedIsNoMistake(t *testing.T) {
	g, stack := NewWithT(t), &v1.Stack{}
	stack.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways}
	planOf := func(urn string) *plan.Plan { return &plan.Plan{Steps: []plan.Step{{Op: plan.OpCreate, URN: urn}}} }
	inputs := 0
	end := func(operation v1.Operation, made *plan.Plan, approved string) {
		inputs++
		stack.Status.Run = &v1.RunStatus{ID: "run", Operation: operation, Approved: approved, Digest: fmt.Sprint("sha256:", inputs)}
		AbsorbResult(stack, &run.Result{Outcome: run.Succeeded, Plan: made, StartedAt: started, EndedAt: started})
	}
	apply := func(made *plan.Plan) {
		end(v1.OperationPropose, made, "")
		end(v1.OperationUpdate, nil, made.Digest())
		g.Expect(stack.Status.Plan.State).To(Equal(v1.PlanApplied))
	}
	first, second := planOf("urn:a"), planOf("urn:b")
	stack.Spec.Approval.Approved = first.Digest()
	apply(first)
	metav1.SetMetaDataAnnotation(&stack.ObjectMeta, v1.ApproveAnnotation, second.Digest())
	apply(second)
	for _, urn := range []string{"urn:c", "urn:d"} {
		end(v1.OperationPropose, planOf(urn), "")
		g.Expect(awaitingText(stack, stack.Status.Plan)).NotTo(ContainSubstring("another plan"))
		stack.Spec.Approval.Approved, stack.Status.History = "", nil // the last one is known all the same
	}
	metav1.SetMetaDataAnnotation(&stack.ObjectMeta, v1.ApproveAnnotation, "sha256:"+strings.Repeat("0", 64))
	g.Expect(awaitingText(stack, stack.Status.Plan)).To(ContainSubstring("the annotation pulumi.com/approve approves another plan, sha256:000"))
}
