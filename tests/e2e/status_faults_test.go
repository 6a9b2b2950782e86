// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// The checker of all other tests' statuses must itself find faults.
func TestTheFaultsOfAStatusAreFound(t *testing.T) {
	t.Parallel()
	settled := func(s *v1.Stack) {
		s.Status.ObservedGeneration = s.Generation
		conditions.MarkTrue(s, meta.ReadyCondition, meta.ReconciliationSucceededReason, "done")
	}
	failed := func(s *v1.Stack) {
		conditions.MarkFalse(s, meta.ReadyCondition, v1.UpdateFailedReason, "no")
		conditions.MarkReconciling(s, meta.ProgressingWithRetryReason, "no")
	}
	running := func(s *v1.Stack) {
		conditions.MarkUnknown(s, meta.ReadyCondition, meta.ProgressingReason, "running")
		conditions.MarkReconciling(s, meta.ProgressingReason, "running")
		s.Status.Run = &v1.RunStatus{ID: "1", StartedAt: metav1.Now()}
	}
	for name, test := range map[string]struct {
		before func(*v1.Stack)
		now    []func(*v1.Stack)
		fault  string // empty for none
	}{
		"Ready":   {now: []func(*v1.Stack){settled}},
		"failed":  {now: []func(*v1.Stack){failed}},
		"running": {now: []func(*v1.Stack){running}},
		"stalled": {now: []func(*v1.Stack){settled, stall}},
		"Ready and running": {now: []func(*v1.Stack){running, settled, func(s *v1.Stack) {
			conditions.Delete(s, meta.ReconcilingCondition)
		}}, fault: "it is Current to kstatus and should be InProgress"},
		"Ready at an old spec": {now: []func(*v1.Stack){settled, func(s *v1.Stack) { s.Generation++ }}, fault: "check failed"},
		"Ready with Reconciling": {now: []func(*v1.Stack){settled, func(s *v1.Stack) {
			conditions.MarkReconciling(s, meta.ProgressingReason, "still")
		}}, fault: "check failed"},
		"failed, and nobody tries again": {now: []func(*v1.Stack){failed, settled, func(s *v1.Stack) {
			conditions.MarkUnknown(s, meta.ReadyCondition, meta.ProgressingReason, "lost")
			conditions.Delete(s, meta.ReconcilingCondition)
		}}, fault: "check failed"},
		"stalled at a generation it does not tell": {now: []func(*v1.Stack){settled, stall, func(s *v1.Stack) {
			s.Status.ObservedGeneration = -1
		}}, fault: "it has stalled at a generation that it does not tell"},
		"written twice in a run": {before: running, now: []func(*v1.Stack){running, func(s *v1.Stack) { s.Status.Failures = 3 }},
			fault: "it was written to"},
		"written in a run, with where it found its stack": {before: running, now: []func(*v1.Stack){running, func(s *v1.Stack) {
			s.Status.ProjectInfo = &v1.ProjectInfo{Name: "lab", Backend: "file:///backend"}
		}}},
		"written in a run, with that its stack is empty": {before: running, now: []func(*v1.Stack){running, func(s *v1.Stack) {
			s.Status.Run.Emptied = true
		}}},
		"written in a recovery, with what may exist": {before: running, now: []func(*v1.Stack){running, func(s *v1.Stack) {
			s.Status.UnknownCreates = []string{"urn:pulumi:dev::app::lab:index:Thing::a"}
		}}},
		"written late in a run": {before: longAgo(running), now: []func(*v1.Stack){longAgo(running), func(s *v1.Stack) { s.Status.Failures = 3 }}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before, now := newStack(), newStack()
			if test.before != nil {
				test.before(before)
			}
			for _, change := range test.now {
				change(now)
			}
			faults := statusFaults(before, now)
			if test.fault == "" {
				g.Expect(faults).To(BeEmpty())
				return
			}
			g.Expect(faults).To(ContainElement(ContainSubstring(test.fault)))
		})
	}
}

func newStack() *v1.Stack {
	return &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "app", Generation: 2}, Status: v1.StackStatus{ObservedGeneration: -1}}
}

func stall(s *v1.Stack) {
	conditions.MarkFalse(s, meta.ReadyCondition, v1.InvalidSpecReason, "never")
	conditions.MarkStalled(s, v1.InvalidSpecReason, "never")
}

func longAgo(running func(*v1.Stack)) func(*v1.Stack) {
	return func(s *v1.Stack) {
		running(s)
		s.Status.Run.StartedAt = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	}
}

func TestAStackThatNobodyHasSeenIsNotDone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	g.Expect(statusFaults(nil, newStack())).To(BeEmpty())
	unmarked := newStack()
	unmarked.Status.ObservedGeneration = unmarked.Generation
	g.Expect(statusFaults(nil, unmarked)).To(ConsistOf(ContainSubstring("a new Stack is Current to kstatus")))
}
