// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/flux-pulumi/pulumi-controller/internal/run"

// Cancel implements run.Runs.
func (r *Runner) Cancel(of run.Ref, now bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[of.ID]
	if !ok || known.result != nil {
		return nil
	}
	if now && !known.aborted {
		known.aborted = true
		close(known.abort)
	}
	known.cancel(run.ErrCancelled)
	return nil
}
