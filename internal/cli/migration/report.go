// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package migration

import (
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// Report is all that is said about a migration.
type Report struct {
	// Prerequisites are what the cluster lacks.
	Prerequisites []string   `json:"prerequisites,omitempty"`
	Operators     []Operator `json:"operators,omitempty"`
	Stacks        []Stack    `json:"stacks"`
	// Left are the Workspaces and Updates, which are deleted after the migration.
	Left []Left `json:"left,omitempty"`
	// Programs are the Programs with a fault.
	Programs []Program `json:"programs,omitempty"`
	// Unreadable is what could not be looked at.
	Unreadable []string `json:"unreadable,omitempty"`
}

// Program is a Program that cannot be taken over as it is.
type Program struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Fault     string `json:"fault"`
}

// Count returns how many Stacks have the outcome.
func (r *Report) Count(of Outcome) int {
	count := 0
	for _, stack := range r.Stacks {
		if stack.Outcome == of {
			count++
		}
	}
	return count
}

// Ready reports whether nothing has to be done before the migration.
func (r *Report) Ready() bool {
	return len(r.Prerequisites) == 0 && len(r.Programs) == 0 && r.Count(EditFirst) == 0 && r.Count(WaitFirst) == 0 && r.Count(Unreadable) == 0
}

// ByHand returns the Workspaces and Updates that belong to no Stack.
func (r *Report) ByHand() []Left {
	var made []Left
	for _, left := range r.Left {
		if left.Stack == "" {
			made = append(made, left)
		}
	}
	return made
}

// Summary says in one line what the migration means.
func (r *Report) Summary() string {
	return fmt.Sprintf("%s: %d taken over without a run, %d run once, %d to be edited first, %d with an update in flight, %d managed by this controller already",
		plural.Of(len(r.Stacks), "Stack", "Stacks"), r.Count(TakenOver), r.Count(Runs), r.Count(EditFirst)+r.Count(Unreadable), r.Count(WaitFirst), r.Count(Managed))
}
