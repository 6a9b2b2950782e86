// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A proposal changes nothing: the outputs are still those of the update before.
func TestOutputsAreOfTheLastUpdateAlsoAfterProposals(t *testing.T) {
	type ended struct {
		operation v1.Operation
		outcome   run.Outcome
	}
	updated, failed := ended{v1.OperationUpdate, run.Succeeded}, ended{v1.OperationUpdate, run.Failed}
	proposed, recovered := ended{v1.OperationPropose, run.Succeeded}, ended{v1.OperationRecover, run.Succeeded}
	for name, test := range map[string]struct {
		runs []ended
		want bool
	}{
		"never ran":                             {nil, false},
		"updated":                               {[]ended{updated}, true},
		"failed":                                {[]ended{updated, failed}, false},
		"only proposed":                         {[]ended{proposed}, false},
		"proposed":                              {[]ended{updated, proposed, proposed}, true},
		"proposed, and the proposal has failed": {[]ended{updated, {v1.OperationPropose, run.Failed}}, true},
		"the plan has changed":                  {[]ended{updated, {v1.OperationUpdate, run.PlanChanged}}, true},
		"failed and proposed":                   {[]ended{updated, failed, proposed}, false},
		"recovered and proposed":                {[]ended{updated, failed, recovered, proposed}, false},
		"proposed and updated":                  {[]ended{failed, proposed, updated}, true},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			for n, one := range test.runs {
				at := started.Add(time.Duration(n) * time.Minute)
				stack.Status.Run = &v1.RunStatus{ID: name, Operation: one.operation}
				AbsorbResult(stack, &run.Result{Outcome: one.outcome, Plan: planMade(), StartedAt: at, EndedAt: at})
			}
			NewWithT(t).Expect(HasUpdated(stack)).To(Equal(test.want))
		})
	}
}
