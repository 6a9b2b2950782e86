// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// seen is a Stack as seen by a watch.
type seen struct {
	after time.Duration
	n     int
	state string
}

const (
	waiting = "waiting"
	running = "running"
	ready   = "ready"
)

func (s seen) stack() *v1.Stack {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: stackName(s.n)}}
	status := metav1.ConditionFalse
	switch s.state {
	case running:
		stack.Status.Run = &v1.RunStatus{ID: "run"}
		status = metav1.ConditionUnknown
	case ready:
		status = metav1.ConditionTrue
	}
	stack.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: status}}
	return stack
}

func TestMoments(t *testing.T) {
	began := time.Unix(1700000000, 0)
	for name, tc := range map[string]struct {
		seen []seen
		want []float64
		err  string
	}{
		"each is from the Ready of the one before to the run": {
			[]seen{{0, 2, waiting}, {0, 1, waiting}, {1, 0, running}, {10, 0, ready}, {12, 1, running}, {20, 1, ready}, {23, 2, running}, {30, 2, ready}},
			[]float64{0.002, 0.003}, "",
		},
		"only what was seen first counts": {
			[]seen{{1, 0, running}, {10, 0, ready}, {11, 0, ready}, {12, 1, running}, {15, 1, running}, {20, 1, ready}, {23, 2, running}, {30, 0, ready}},
			[]float64{0.002, 0.003}, "",
		},
		"a Stack that does not wait is an error": {
			[]seen{{1, 0, running}, {2, 1, running}, {10, 0, ready}, {12, 1, ready}, {23, 2, running}},
			nil, "stack-001 was run before its dependency stack-000 was Ready",
		},
		"a run that was not seen is an error": {
			[]seen{{1, 0, running}, {10, 0, ready}, {12, 1, running}, {20, 1, ready}},
			nil, "no run of stack-002 was seen",
		},
		"a dependency that was not seen to be Ready is an error": {
			[]seen{{1, 0, running}, {12, 1, running}, {20, 1, ready}, {21, 2, running}},
			nil, "stack-000 was not seen to be Ready",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMoments()
			for _, s := range tc.seen {
				m.take(s.stack(), began.Add(s.after*time.Millisecond))
			}
			latencies, err := m.latencies(2)
			if tc.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(latencies).To(Equal(tc.want))
		})
	}
}
