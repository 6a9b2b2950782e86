// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
)

// Run is the run in flight, with its progress if that is known.
type Run struct {
	Progress
	Operation string `json:"operation"`
	StartedAt string `json:"startedAt"`
	Revision  string `json:"revision,omitempty"`
	// Message is the progress in words, as the status has it.
	Message string `json:"message,omitempty"`
	// Total is how many steps there will be, 0 if that is not known.
	Total int `json:"total,omitempty"`
}

// runOf returns the run in flight. How many steps there will be is known of a plan that was approved.
func runOf(in Input) *Run {
	record := in.Stack.Status.Run
	if record == nil {
		return nil
	}
	shown := &Run{Progress: Progress{ID: name(record.ID)}, Operation: name(string(record.Operation)), StartedAt: stamp(&record.StartedAt), Revision: name(record.Revision),
		Message: text(rows.Running(in.Stack, in.Now))}
	if in.Progress != nil && in.Progress.ID == record.ID {
		shown.Progress = *in.Progress
	}
	if of := words.ShownPlan(in.Stack); of != nil && of.Digest == record.Approved && in.Plan != nil {
		shown.Total = in.Plan.Counts().Total()
	}
	return shown
}
