// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// After a run that has changed the state, another plan is no sign of values that differ each time.
func TestOnlyPlansThatDifferInARowCount(t *testing.T) {
	type end struct {
		operation v1.Operation
		outcome   run.Outcome
	}
	proposed, changed := end{run.Propose, run.Succeeded}, end{run.Update, run.PlanChanged}
	failed, recovered := end{run.Update, run.Failed}, end{run.Recover, run.Succeeded}
	for name, test := range map[string]struct {
		ends []end
		want int64
	}{
		"once":                            {[]end{proposed, changed}, 1},
		"twice":                           {[]end{proposed, changed, changed}, 2},
		"after an update that has failed": {[]end{proposed, failed, changed}, 0},
		"after two":                       {[]end{proposed, failed, failed, changed}, 0},
		"and once more":                   {[]end{proposed, failed, changed, changed}, 1},
		"proposed again":                  {[]end{proposed, changed, proposed}, 0},
		"after a recovery, which keeps the count": {[]end{proposed, failed, recovered, changed}, 1},
		"and once more after it":                  {[]end{proposed, failed, recovered, changed, changed}, 2},
		"and after an update that has failed":     {[]end{proposed, changed, failed, changed}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			stack.Spec.Approval = &v1.Approval{Require: v1.ApprovalDestructive}
			for i, end := range test.ends {
				approved := ""
				if end.operation == run.Update {
					approved = stack.Status.Plan.Digest
				}
				record := v1.RunStatus{ID: fmt.Sprint(i), Operation: end.operation, Approved: approved, Digest: "sha256:inputs"}
				RecordRun(stack, record)
				made := &plan.Plan{Steps: []plan.Step{{Op: plan.OpCreate, URN: fmt.Sprint("urn:", i)}}}
				AbsorbResult(stack, &run.Result{Outcome: end.outcome, Plan: made, StartedAt: started, EndedAt: started})
			}
			NewWithT(t).Expect(stack.Status.Failures).To(Equal(test.want))
		})
	}
}
