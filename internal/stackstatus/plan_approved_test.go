// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A pod that waits for a node must not apply a plan that was rejected since.
func TestARecordedRunIsWantedWhileItsPlanIsApproved(t *testing.T) {
	const digest, other = "sha256:aa", "sha256:bb"
	for name, test := range map[string]struct {
		require     v1.ApprovalRequirement
		annotations map[string]string
		destructive bool
		approved    string
		want        bool
	}{
		"approved":              {require: v1.ApprovalAlways, annotations: map[string]string{v1.ApproveAnnotation: digest}, approved: digest, want: true},
		"taken back":            {require: v1.ApprovalAlways, approved: digest},
		"another is approved":   {require: v1.ApprovalAlways, annotations: map[string]string{v1.ApproveAnnotation: other}, approved: digest},
		"rejected":              {require: v1.ApprovalAlways, annotations: map[string]string{v1.ApproveAnnotation: digest, v1.RejectAnnotation: digest}, approved: digest},
		"needs nobody":          {require: v1.ApprovalDestructive, approved: digest, want: true},
		"destructive":           {require: v1.ApprovalDestructive, destructive: true, approved: digest},
		"no approval is needed": {require: v1.ApprovalNever, approved: digest, want: true},
		"not an approved run":   {require: v1.ApprovalAlways, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			stack.Annotations = test.annotations
			stack.Spec.Approval = &v1.Approval{Require: test.require}
			stack.Status.Plan = &v1.PlanStatus{Digest: digest, State: v1.PlanApproved, Destructive: test.destructive}
			NewWithT(t).Expect(IsStillApproved(stack, &v1.RunStatus{Approved: test.approved})).To(Equal(test.want))
		})
	}
}

// The pod of a run may have an earlier version of this controller, which does not know what it was asked for.
func TestWhatAPodOfAnEarlierVersionHasDoneIsAFailure(t *testing.T) {
	for name, test := range map[string]struct {
		operation v1.Operation
		approved  string
		result    run.Result
		want      run.Outcome
	}{
		"a proposal":                      {run.Propose, "", run.Result{Outcome: run.Succeeded, Operation: run.Propose, Plan: planMade()}, run.Succeeded},
		"a proposal without a plan":       {run.Propose, "", run.Result{Outcome: run.Succeeded, Operation: run.Propose}, run.Failed},
		"a proposal taken for an update":  {run.Propose, "", run.Result{Outcome: run.Succeeded, Plan: planMade()}, run.Failed},
		"a proposal taken for a preview":  {run.Propose, "", run.Result{Outcome: run.Failed, Message: "no stack"}, run.Failed},
		"an approved update":              {run.Update, "sha256:aa", run.Result{Outcome: run.Succeeded, Operation: run.Update, Approved: "sha256:aa"}, run.Succeeded},
		"one that was held to nothing":    {run.Update, "sha256:aa", run.Result{Outcome: run.Succeeded, Operation: run.Update}, run.Failed},
		"one that was held to another":    {run.Update, "sha256:aa", run.Result{Outcome: run.Succeeded, Operation: run.Update, Approved: "sha256:bb"}, run.Failed},
		"one that was done as a preview":  {run.Destroy, "sha256:aa", run.Result{Outcome: run.Succeeded}, run.Failed},
		"an operation of a later version": {"later", "", run.Result{Outcome: run.Succeeded}, run.Failed},
		"an update of any pod":            {run.Update, "", run.Result{Outcome: run.Succeeded}, run.Succeeded},
		"a pod that could not start":      {run.Propose, "", run.Result{Outcome: run.PodFailed, Message: "no node"}, run.PodFailed},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			record := &v1.RunStatus{ID: "1", Operation: test.operation, Approved: test.approved}
			got := Classify(&v1.Stack{}, record, &test.result)
			g.Expect(got.Outcome).To(Equal(test.want))
			if test.want == run.Failed && name != "a proposal without a plan" {
				g.Expect(got.Message).To(ContainSubstring("--runner-image"))
				g.Expect(got.Plan).To(BeNil())
			}
		})
	}
}
