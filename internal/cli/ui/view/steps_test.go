// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// stepsOf collects the steps of a log with a line every two seconds.
func stepsOf(lines ...string) *Steps {
	steps := &Steps{}
	for n, text := range lines {
		steps.Add(run.LogLine{At: now().Add(time.Duration(n) * 2 * time.Second), Text: text})
	}
	return steps
}

func TestTheStepsOfARunAreThoseOfItsLog(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  Progress
	}{
		"none yet": {[]string{"update starts", "Installing dependencies..."}, Progress{}},
		"at work and done": {[]string{"t:i:T (a): create started", "t:i:T (b): create started", "t:i:T (a): create done", "t:i:T (a): it was slow"},
			Progress{Done: 1, Steps: []Step{{"create", "t:i:T", "a", StepDone, 4}, {"create", "t:i:T", "b", StepRunning, 0}}}},
		"failed": {[]string{"t:i:T (a): update started", "t:i:T (a): update failed"},
			Progress{Done: 1, Steps: []Step{{"update", "t:i:T", "a", StepFailed, 2}}}},
		"a preview": {[]string{"t:i:T (a): update planned"}, Progress{Done: 1, Steps: []Step{{"update", "t:i:T", "a", StepDone, 0}}}},
		"a replacement": {[]string{"t:i:T (a): create-replacement started", "t:i:T (a): create-replacement done", "t:i:T (a): replace started", "t:i:T (a): replace done", "t:i:T (a): delete-replaced started"},
			Progress{Done: 2, Steps: []Step{{"create-replacement", "t:i:T", "a", StepDone, 2}, {"replace", "t:i:T", "a", StepDone, 2}, {"delete-replaced", "t:i:T", "a", StepRunning, 0}}}},
		"the same again": {[]string{"t:i:T (a): refresh started", "t:i:T (a): refresh done", "t:i:T (a): refresh started"},
			Progress{Done: 1, Steps: []Step{{"refresh", "t:i:T", "a", StepDone, 2}, {"refresh", "t:i:T", "a", StepRunning, 0}}}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(ProgressOf("", stepsOf(tt.lines...), "")).To(Equal(tt.want))
		})
	}
}

func TestStepsAreBounded(t *testing.T) {
	g := NewWithT(t)
	lines := []string{"t:i:T (slow): create started"}
	for n := range 3 * maxItems {
		lines = append(lines, fmt.Sprintf("t:i:T (%d): create started", n), fmt.Sprintf("t:i:T (%d): create done", n))
	}
	shown := ProgressOf("01", stepsOf(lines...), "why")
	g.Expect(shown.Done).To(Equal(3 * maxItems))
	g.Expect(shown.Steps).To(HaveLen(maxItems))
	g.Expect(shown.Steps[0]).To(Equal(Step{"create", "t:i:T", "slow", StepRunning, 0}), "what is at work stays")
	g.Expect(shown.Steps[maxItems-1].Name).To(Equal(fmt.Sprint(3*maxItems - 1)))
	lines = nil
	for n := range 2 * maxItems {
		lines = append(lines, fmt.Sprintf("t:i:T (%d): create started", n))
	}
	g.Expect(ProgressOf("", stepsOf(lines...), "").Steps).To(HaveLen(maxItems))
}
