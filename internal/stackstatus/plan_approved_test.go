// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
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
