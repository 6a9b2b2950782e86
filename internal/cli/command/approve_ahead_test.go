// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestApproveAhead(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "approve-ahead")
	w.apply("steered")
	digest := examplePlan("two").Digest()
	ahead := "approve stack network --ahead --digest " + digest
	w.env.In = strings.NewReader("n\n")
	w.golden("approve_ahead_refused", "approve stack network --ahead --yes", "approve stack network --ahead --yes --digest sha256:abc",
		"approve stack network --yes --digest "+digest, ahead)
	g.Expect(w.decided()).To(BeEmpty())

	w.golden("approve_ahead", ahead+" --yes")
	approved := map[string]string{v1.ApproveAnnotation: digest, v1.ApprovedByAnnotation: "admin"}
	g.Expect(w.decided()).To(Equal(approved))

	// Another plan was rejected. An approval ahead does not take that back.
	of := w.propose(examplePlan("one"))
	w.edit(func(stack *v1.Stack) {
		stack.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways}
		stack.Annotations[v1.RejectAnnotation], stack.Annotations[v1.RejectReasonAnnotation] = of.Digest, "Friday"
	})
	w.golden("approve_ahead_rejected", ahead+" --yes", "approve stack network --ahead --yes --digest "+of.Digest)
	g.Expect(w.decided()).To(And(HaveKeyWithValue(v1.ApproveAnnotation, digest), HaveKeyWithValue(v1.RejectAnnotation, of.Digest),
		HaveKeyWithValue(v1.RejectReasonAnnotation, "Friday")))

	// An approval that is not used yet is replaced.
	third := examplePlan("three").Digest()
	w.golden("approve_ahead_replaces", "approve stack network --ahead --yes --digest "+third)

	// An approval that the controller is about to use stays.
	w.edit(func(stack *v1.Stack) { stack.Annotations[v1.ApproveAnnotation] = of.Digest })
	w.golden("approve_ahead_of_another", ahead+" --yes")
	g.Expect(w.decided()).To(HaveKeyWithValue(v1.ApproveAnnotation, of.Digest))

	w.propose(examplePlan("two"))
	w.golden("approve_ahead_proposed", ahead+" --yes")
	g.Expect(w.decided()).To(HaveKeyWithValue(v1.ApproveAnnotation, digest))
	w.status(func(s *v1.StackStatus) { s.Plan.State = v1.PlanApplied })
	w.golden("approve_ahead_applied", ahead+" --yes")
}

func TestAPreviewIsApprovedAtTheStackThatAppliesIt(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "approve-preview")
	w.apply("steered")
	w.edit(func(stack *v1.Stack) {
		stack.Spec.Preview, stack.Spec.PreviewOf = true, &v1.PreviewedStackReference{Name: "production", Namespace: "apps"}
	})
	of := w.propose(examplePlan("one"))
	w.status(func(s *v1.StackStatus) { s.Plan.State = v1.PlanPreviewed })
	decisions := []string{"approve stack network --yes", "approve stack network --yes --ahead --digest " + of.Digest, "reject stack network --reason no"}
	w.golden("approve_preview", append(decisions, "diff stack network")...)
	w.status(func(s *v1.StackStatus) {
		s.Plan.Message = "Stack apps/production does not list the namespace of this one in spec.approval.previewNamespaces"
	})
	w.golden("approve_preview_incomparable", append(decisions, "diff stack network")...)
	g.Expect(w.decided()).To(BeEmpty())
}

// edit changes the Stack.
func (w *world) edit(change func(*v1.Stack)) {
	w.t.Helper()
	stack := w.network()
	before := client.MergeFrom(stack.DeepCopy())
	change(stack)
	NewWithT(w.t).Expect(w.api.Patch(w.t.Context(), stack, before)).To(Succeed())
}
