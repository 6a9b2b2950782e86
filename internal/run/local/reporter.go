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

// reporter is the run.Reporter of a run in flight.
type reporter struct {
	runner *Runner
	id     string
}

// Progress implements run.Reporter. It notifies the Stack when what the run waits for
// changes, as the status is otherwise written ever more rarely.
func (p reporter) Progress(progress run.Progress) {
	r := p.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[p.id]; ok {
		if known.progress.Waiting != progress.Waiting {
			r.options.Wake(known.stack.Namespace, known.stack.Name)
		}
		known.progress = progress
	}
}

// UnknownCreates implements run.Reporter. It notifies the Stack at once: until they are in
// its status, only this process and this disk know them.
func (p reporter) UnknownCreates(urns []string) {
	r := p.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[p.id]; ok {
		known.unknownCreates = slices.Clone(urns)
		r.options.Wake(known.stack.Namespace, known.stack.Name)
	}
}

// errNotNoted is why a destroy does not remove its stack.
var errNotNoted = errors.New("it could not be recorded in the status of the Stack: the API server is unreachable, or the CRDs are older than this controller")

// Found implements run.Reporter. Like UnknownCreates, it notifies the Stack at once. It
// waits until the status has it only if a stack is to be removed: before that, a recovery
// can look for itself.
func (p reporter) Found(ctx context.Context, found run.Found) error {
	noted := p.keepFound(found)
	if !found.Emptied {
		return nil
	}
	select {
	case <-noted:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(p.runner.options.NotePatience):
		return errNotNoted
	}
}

// keepFound returns what is closed when the status has it.
func (p reporter) keepFound(found run.Found) <-chan struct{} {
	r := p.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	noted := make(chan struct{})
	if known, ok := r.runs[p.id]; ok {
		known.found, known.noted = found, noted
		r.options.Wake(known.stack.Namespace, known.stack.Name)
	}
	return noted
}
