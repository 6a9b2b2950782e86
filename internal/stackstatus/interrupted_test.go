// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestANewSpecResetsTheFailures(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	stack.Status.LastAttemptedDigest = "sha256:inputs"
	stack.Status.LastUpdate = &v1.LastUpdate{Generation: 2}
	stack.Status.Failures = 7
	AbsorbResult(stack, result(run.Failed, "no such bucket"))
	g.Expect(stack.Status.Failures).To(BeEquivalentTo(1))

	stack = stackWithRun(v1.OperationRecover)
	stack.Status.LastUpdate = &v1.LastUpdate{Generation: 2}
	stack.Status.Failures = 7
	stack.Status.Interrupted = []v1.InterruptedRun{{ID: "run-0", Failures: 7}}
	AbsorbResult(stack, result(run.Succeeded, ""))
	g.Expect(stack.Status.Failures).To(BeZero(), "what is run next need not wait")
}

// A proposal that is killed while it creates the stack leaves the lock of Pulumi.
func TestAProposalIsRecoveredFromIfItMayHaveCreatedTheStack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operation v1.Operation
		info      *v1.ProjectInfo
		want      bool
	}{
		"a new stack":                   {operation: v1.OperationPropose, want: true},
		"a stack that may exist":        {operation: v1.OperationPropose, info: &v1.ProjectInfo{Name: "app"}, want: true},
		"a stack that exists":           {operation: v1.OperationPropose, info: &v1.ProjectInfo{Backend: "file:///state"}},
		"a preview, which creates none": {operation: v1.OperationPreview},
		"a proposal of the destroy":     {operation: v1.OperationProposeDestroy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killed := stackWithRun(test.operation)
			killed.Status.ProjectInfo = test.info.DeepCopy()
			lost := killed.Status.Run
			MarkInterrupted(killed, "the process is gone", started)

			reported := stackWithRun(test.operation)
			reported.Status.ProjectInfo = test.info.DeepCopy()
			failed := result(run.Failed, "Pulumi was killed")
			failed.Interrupted = true
			AbsorbResult(reported, failed)
			for _, stack := range []*v1.Stack{killed, reported} {
				if !test.want {
					NewWithT(t).Expect(stack.Status.Interrupted).To(BeEmpty())
					continue
				}
				NewWithT(t).Expect(stack.Status.Interrupted).To(ConsistOf(And(HaveField("ID", lost.ID), HaveField("Operation", lost.Operation))))
			}
		})
	}
}
