// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// NoteProgress is for the driver to tell how far a run has come.
func (r *Runner) NoteProgress(id string, progress run.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		known.progress = progress
	}
}

// Progress tells how far a run has come that is in flight here: nowhere, for all
// others.
func (r *Runner) Progress(id string) run.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		return known.progress
	}
	return run.Progress{}
}

// NoteUnknownCreates is for the driver to tell of creations of unknown outcome of a
// run in flight. Its Stack is told at once: until they are in its status, they are
// known to this process and this disk alone.
func (r *Runner) NoteUnknownCreates(id string, urns []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		known.unknownCreates = slices.Clone(urns)
		r.options.Ended(known.stack.Namespace, known.stack.Name)
	}
}

// UnknownCreates are the creations of unknown outcome of a run that is in flight
// here, as far as they are known: none, for all others.
func (r *Runner) UnknownCreates(id string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		return slices.Clone(known.unknownCreates)
	}
	return nil
}
