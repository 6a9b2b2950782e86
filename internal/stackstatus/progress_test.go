// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestProgressText(t *testing.T) {
	for want, got := range map[string]string{
		"no resource operations yet":  progressText(v1.OperationUpdate, run.Progress{}),
		"1 in progress":               progressText(v1.OperationUpdate, run.Progress{InFlight: 1}),
		"1 updated, 4 unchanged":      progressText(v1.OperationUpdate, run.Progress{Done: run.Changes{Updated: 1, Same: 4}}),
		"2 to create, 1 in progress":  progressText(v1.OperationPreview, run.Progress{Done: run.Changes{Created: 2}, InFlight: 1}),
		run.StartingProgram:           progressText(v1.OperationUpdate, run.Progress{Waiting: run.StartingProgram}),
		"pod a waits for a node: 0/1": progressText(v1.OperationUpdate, run.Progress{Waiting: "pod a waits for a node: 0/1"}),
	} {
		NewWithT(t).Expect(got).To(Equal(want))
	}
}

func TestTheConditionsHaveTheProgress(t *testing.T) {
	for want, tt := range map[string]struct {
		record   v1.RunStatus
		progress run.Progress
		took     time.Duration
	}{
		"Running update: no resource operations yet after 11s":        {v1.RunStatus{Operation: v1.OperationUpdate}, run.Progress{}, 10600 * time.Millisecond},
		"Running preview at revision v1: 2 in progress after 1m0s":    {v1.RunStatus{Operation: v1.OperationPreview, Revision: "v1"}, run.Progress{InFlight: 2}, time.Minute},
		"Running destroy: pod a waits for a node: 0/1 nodes after 9s": {v1.RunStatus{Operation: v1.OperationDestroy}, run.Progress{Waiting: "pod a waits for a node: 0/1 nodes"}, 9 * time.Second},
	} {
		stack := &v1.Stack{}
		stack.Status.Run = &tt.record
		stack.Status.Run.StartedAt = metav1.Time{Time: started}
		MarkProgress(stack, tt.progress, started.Add(tt.took))
		NewWithT(t).Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal(want))
		NewWithT(t).Expect(conditions.GetMessage(stack, meta.ReconcilingCondition)).To(Equal(want))
	}
}

func TestWhatARunWaitsForIsWrittenWhenItChanges(t *testing.T) {
	waiting := func(text string) run.Progress { return run.Progress{Waiting: text} }
	reported := func(p run.Progress) func(*v1.Stack) {
		return func(stack *v1.Stack) { MarkProgress(stack, p, started.Add(20*time.Second)) }
	}
	for name, tt := range map[string]struct {
		mark  func(*v1.Stack)
		now   run.Progress
		want  bool
		after time.Duration
	}{
		"only that the run has started":        {func(*v1.Stack) {}, run.Progress{}, false, 0},
		"its progress":                         {reported(run.Progress{InFlight: 1}), run.Progress{InFlight: 2}, true, 20 * time.Second},
		"that nothing is known":                {reported(run.Progress{}), run.Progress{InFlight: 2}, true, 20 * time.Second},
		"what it waits for":                    {reported(waiting("pod a waits for a node: 0/1 nodes")), waiting("pod a waits for a node: 0/2 nodes"), true, 20 * time.Second},
		"that it waits for something else":     {reported(waiting("pod a waits for a node: 0/1 nodes")), waiting("pod a is starting"), false, 20 * time.Second},
		"that it waits, but it no longer does": {reported(waiting("pod a is starting")), run.Progress{}, false, 20 * time.Second},
		"its progress, but now it waits":       {reported(run.Progress{InFlight: 1}), waiting("pod a is to end, and node b does not tell: ask"), false, 20 * time.Second},
		"that it is cancelled":                 {func(stack *v1.Stack) { stack.Status.Run.Cancel = v1.CancelGently }, run.Progress{}, true, 0},
		"that another controller has it": {func(stack *v1.Stack) {
			reported(run.Progress{InFlight: 1})(stack)
			MarkHeldElsewhere(stack, HeldText(stack))
		}, run.Progress{InFlight: 1}, false, 0},
		"nothing of a preview on request": {func(stack *v1.Stack) {
			stack.Status.Run.Operation, stack.Status.Run.PreviewRequest = v1.OperationPreview, "now"
		}, run.Progress{InFlight: 1}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			stack.Status.Run = &v1.RunStatus{Operation: v1.OperationUpdate, StartedAt: metav1.Time{Time: started}}
			tt.mark(stack)
			NewWithT(t).Expect(IsProgressReported(stack.Status.Run, tt.now)).To(Equal(tt.want))
			NewWithT(t).Expect(ProgressReportedAfter(stack.Status.Run)).To(Equal(tt.after))
		})
	}
}
