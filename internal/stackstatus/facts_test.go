// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestARunThatCountedNothingKeepsWhatIsKnown(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	AbsorbResult(stack, result(run.Failed, "no such bucket"))
	g.Expect(stack.Status.Resources.Total).To(BeEquivalentTo(3))

	RecordRun(stack, v1.RunStatus{ID: "run-2", Operation: v1.OperationUpdate, Generation: 3})
	AbsorbResult(stack, &run.Result{Outcome: run.Failed, Message: `the project was "app"`, StartedAt: started, EndedAt: started})
	g.Expect(stack.Status.Resources.Total).To(BeEquivalentTo(3), "it refused to begin")
	g.Expect(KnownProject(stack).Name).To(Equal("app"))
}

// With an event that could not be read, nothing of an earlier run may pass for that of this one.
func TestWhatIsNotKnownIsNotShown(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	record := *stack.Status.Run
	first := result(run.Succeeded, "")
	first.Outputs = map[string]json.RawMessage{"ok": json.RawMessage(`"first"`)}
	AbsorbResult(stack, first)
	g.Expect(stack.Status.Outputs).To(HaveLen(1))
	g.Expect(stack.Status.Resources).NotTo(BeNil())

	RecordRun(stack, v1.RunStatus{ID: "run-2", Operation: v1.OperationUpdate, Generation: 3})
	next := result(run.Succeeded, "")
	next.Outputs, next.OutputsMissed, next.Changes = nil, true, run.Changes{Unknown: true}
	reported := runEvent(record, next)
	AbsorbResult(stack, next)
	g.Expect(stack.Status.Outputs).To(BeEmpty())
	g.Expect(stack.Status.Resources).To(BeNil())
	g.Expect(stack.Status.History[0].Metadata).To(HaveKeyWithValue("changes", HavePrefix("an unknown number of changes")))
	g.Expect(reported.Type).To(Equal("Normal"), "something may have changed")
	g.Expect(reported.Message).To(And(HavePrefix("Update succeeded: an unknown number of changes (some of Pulumi's events could not be read) in "),
		HaveSuffix("; its outputs are unknown, because some of Pulumi's events could not be read")))
}
