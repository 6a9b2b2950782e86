// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// NoteProgress is called by the driver with the progress of a run. It notifies the Stack
// when what the run waits for changes, as the status is otherwise written ever more rarely.
func (r *Runner) NoteProgress(id string, progress run.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		if known.progress.Waiting != progress.Waiting {
			r.options.Wake(known.stack.Namespace, known.stack.Name)
		}
		known.progress = progress
	}
}

// Progress implements run.Runner.
func (r *Runner) Progress(id string) run.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		return known.progress
	}
	return run.Progress{}
}

// NoteUnknownCreates is called by the driver with the creations with unknown outcome of
// a run in flight. It notifies the Stack at once: until they are in its status, only
// this process and this disk know them.
func (r *Runner) NoteUnknownCreates(id string, urns []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		known.unknownCreates = slices.Clone(urns)
		r.options.Wake(known.stack.Namespace, known.stack.Name)
	}
}

// errNotNoted is why a run does not go on.
var errNotNoted = errors.New("it could not be recorded in the status of the Stack: the API server is unreachable, or the CRDs are older than this controller")

// NoteFound is called by the driver with what a run in flight has found out. Like
// NoteUnknownCreates, it notifies the Stack at once. It waits until the status has it only
// if a stack is to be removed: before that, a recovery can look for itself.
func (r *Runner) NoteFound(ctx context.Context, id string, found run.Found) error {
	noted := r.keepFound(id, found)
	if !found.Emptied {
		return nil
	}
	select {
	case <-noted:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(r.options.NotePatience):
		return errNotNoted
	}
}

// keepFound returns what is closed when the status has it.
func (r *Runner) keepFound(id string, found run.Found) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	noted := make(chan struct{})
	if known, ok := r.runs[id]; ok {
		known.found, known.noted = found, noted
		r.options.Wake(known.stack.Namespace, known.stack.Name)
	}
	return noted
}

// Noted implements run.Runner.
func (r *Runner) Noted(id string, found run.Found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok && known.found == found && known.noted != nil {
		close(known.noted)
		known.noted = nil
	}
}

// Found implements run.Runner.
func (r *Runner) Found(id string) run.Found {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		return known.found
	}
	return run.Found{}
}

// UnknownCreates implements run.Runner.
func (r *Runner) UnknownCreates(id string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		return slices.Clone(known.unknownCreates)
	}
	return nil
}
