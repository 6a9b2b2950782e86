// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/steplog"
)

// The states of a step.
const (
	StepRunning = "running"
	StepDone    = "done"
	StepFailed  = "failed"
)

// Step is what the run does to one resource.
type Step struct {
	// Op is an operation of Pulumi.
	Op   string `json:"op"`
	Type string `json:"type"`
	Name string `json:"name"`
	// State is one of the states above.
	State string `json:"state"`
	// Seconds that it took.
	Seconds int `json:"seconds,omitempty"`
}

// Progress is what a run in flight has done so far. The steps are those that its log has, the last ones if there are too many.
type Progress struct {
	// ID of the run.
	ID   string `json:"id"`
	Done int    `json:"done,omitempty"`
	// Steps in the order in which they started.
	Steps []Step `json:"steps,omitempty"`
	// Unread is why there are no steps, or not all of them.
	Unread string `json:"unread,omitempty"`
}

// Steps collects the steps of a run from the lines of its log. It is not safe for concurrent use.
type Steps struct {
	kept []stepSeen
	done int
}

type stepSeen struct {
	step    steplog.Step
	started time.Time
	ended   time.Time
}

// Add reads a line of the log, and reports whether it is about a step.
func (s *Steps) Add(line run.LogLine) bool {
	step, ok := steplog.Parse(line.Text)
	if !ok {
		return false
	}
	if step.Phase == steplog.Started {
		s.keep(stepSeen{step: step, started: line.At})
		return true
	}
	s.done++
	for i := len(s.kept) - 1; i >= 0; i-- {
		if one := &s.kept[i]; one.ended.IsZero() && one.step.Type == step.Type && one.step.Name == step.Name && one.step.Op == step.Op {
			one.step.Phase, one.ended = step.Phase, line.At
			return true
		}
	}
	s.keep(stepSeen{step: step, started: line.At, ended: line.At}) // a preview only says what it plans
	return true
}

func (s *Steps) keep(one stepSeen) {
	one.step.Type, one.step.Name = name(one.step.Type), name(one.step.Name)
	s.kept = append(s.kept, one)
	if len(s.kept) <= maxItems {
		return
	}
	// What is at work is shown for longer than what is done.
	drop := max(0, slices.IndexFunc(s.kept, func(of stepSeen) bool { return !of.ended.IsZero() }))
	s.kept = slices.Delete(s.kept, drop, drop+1)
}

// ProgressOf returns the steps that were collected of a run.
func ProgressOf(id string, steps *Steps, unread string) Progress {
	shown := Progress{ID: name(id), Done: steps.done, Unread: text(unread)}
	for _, one := range steps.kept {
		step := Step{Op: one.step.Op, Type: one.step.Type, Name: one.step.Name, State: StepDone, Seconds: int(max(0, one.ended.Sub(one.started).Seconds()))}
		switch {
		case one.ended.IsZero():
			step.State, step.Seconds = StepRunning, 0
		case one.step.Phase == steplog.Failed:
			step.State = StepFailed
		}
		shown.Steps = append(shown.Steps, step)
	}
	return shown
}
