// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// The states of a step.
const (
	StepRunning = "running"
	StepDone    = "done"
	StepFailed  = "failed"
)

// Run is the run in flight.
type Run struct {
	ID        string `json:"id"`
	Operation string `json:"operation"`
	StartedAt string `json:"startedAt"`
	Revision  string `json:"revision,omitempty"`
	// Message is the progress in words.
	Message string `json:"message,omitempty"`
	// Done of Total steps are done. Total is 0 if it is not known how many there will be.
	Done  int    `json:"done,omitempty"`
	Total int    `json:"total,omitempty"`
	Steps []Step `json:"steps,omitempty"`
}

// Step is what the run does to one resource.
type Step struct {
	// Op is an operation of internal/plan.
	Op   string `json:"op"`
	Type string `json:"type"`
	Name string `json:"name"`
	// State is one of the states above.
	State string `json:"state"`
	// Seconds that it took.
	Seconds int `json:"seconds,omitempty"`
}

// runOf returns the run in flight. How many steps there will be is known of a plan that was approved.
func runOf(in Input) *Run {
	record := in.Stack.Status.Run
	if record == nil {
		return nil
	}
	shown := &Run{ID: name(record.ID), Operation: name(string(record.Operation)), StartedAt: stamp(&record.StartedAt), Revision: name(record.Revision),
		Message: text(rows.Running(in.Stack, in.Now))}
	steps := in.Steps[max(0, len(in.Steps)-maxItems):]
	for _, step := range in.Steps {
		if step.State != StepRunning {
			shown.Done++
		}
	}
	for _, step := range steps {
		shown.Steps = append(shown.Steps, Step{Op: name(step.Op), Type: name(step.Type), Name: name(step.Name), State: name(step.State), Seconds: max(0, step.Seconds)})
	}
	if of := words.ShownPlan(in.Stack); of != nil && of.Digest == record.Approved && in.Plan != nil && len(steps) > 0 {
		shown.Total = max(shown.Done, totalOf(*in.Plan))
	}
	return shown
}

func totalOf(p plan.Plan) int { return p.Counts().Total() }
