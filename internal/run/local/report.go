// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Report implements run.Runs.
func (r *Runner) Report(of run.Ref) run.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[of.ID]
	if !ok {
		return run.Report{}
	}
	return run.Report{Progress: known.progress, UnknownCreates: slices.Clone(known.unknownCreates), Found: known.found}
}

// ConfirmFound implements run.Runner.
func (r *Runner) ConfirmFound(of run.Ref, found run.Found) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[of.ID]; ok && known.found == found && known.noted != nil {
		close(known.noted)
		known.noted = nil
	}
}
