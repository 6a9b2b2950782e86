// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Once the Stack does not only preview any more, its own plan has to be proposed and approved.
func TestAPreviewedPlanIsNoneThatCanBeApproved(t *testing.T) {
	g := NewWithT(t)
	digest := "sha256:" + strings.Repeat("a", 64)
	stack := &v1.Stack{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1.ApproveAnnotation: digest}},
		Spec:       v1.StackSpec{Approval: &v1.Approval{Require: v1.ApprovalAlways, Approved: digest}},
		Status:     v1.StackStatus{Plan: &v1.PlanStatus{Digest: digest, Operation: v1.OperationUpdate, State: v1.PlanPreviewed}},
	}
	seen := Observation(stack, time.Now())
	g.Expect(seen.Approval.Required).To(BeTrue())
	g.Expect(seen.Approval.Plan).To(BeNil())
	g.Expect(waitingPlan(stack)).To(BeNil())
	MarkAwaitingApproval(stack, v1.ApprovalRequiredReason, "")
	MarkRejected(stack, v1.PlanRejectedReason, "")
	g.Expect(stack.Status.Plan.State).To(Equal(v1.PlanPreviewed))

	RecordRun(stack, v1.RunStatus{ID: "run", Operation: run.Propose})
	g.Expect(stack.Status.Plan).NotTo(BeNil(), "the proposal replaces it when it ends")
	RecordRun(stack, v1.RunStatus{ID: "run", Operation: run.Update})
	g.Expect(stack.Status.Plan).To(BeNil())
}

// Whether the comment on a pull request is outdated depends on the run that has changed something last, in whichever
// order the history has its entries: a run that has changed nothing brings an older one to the front.
func TestTheLastChangeIsThatOfTheLastRunThatHasChangedSomething(t *testing.T) {
	type ended struct {
		inputs, result string
		changes        bool
	}
	a, b := ended{"a", "Succeeded", true}, ended{"b", "Succeeded", true}
	failed := func(inputs string, changes bool) ended { return ended{inputs, "UpdateFailed", changes} }
	for name, test := range map[string]struct {
		runs []ended
		want string
	}{
		"nothing":                        {[]ended{{"a", "Succeeded", false}}, ""},
		"one":                            {[]ended{a}, "1"},
		"it flaps":                       {[]ended{a, b, a, b}, "4"},
		"back, and nothing was to do":    {[]ended{a, b, {"a", "Succeeded", false}}, "2"},
		"back and forth":                 {[]ended{a, b, {"a", "Succeeded", false}, {"b", "Succeeded", false}}, "2"},
		"a failure that changed nothing": {[]ended{a, failed("a", false), {"a", "Succeeded", false}}, "1"},
		"a failure half-way":             {[]ended{a, failed("b", true), {"a", "Succeeded", false}}, "2"},
		"more entries than are kept":     {[]ended{a, failed("b", false), failed("c", false), failed("d", false), failed("e", false), failed("f", false), failed("g", false)}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			for i, one := range test.runs {
				record := &v1.RunStatus{ID: fmt.Sprint(i + 1), Operation: v1.OperationUpdate, Digest: one.inputs}
				upsertHistory(stack, record, started.Add(time.Duration(i)*time.Minute), 0, one.result, one.changes, map[string]string{})
			}
			NewWithT(t).Expect(LastChange(stack)).To(Equal(test.want))
		})
	}
}
