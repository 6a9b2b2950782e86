// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/flux-pulumi/pulumi-controller/internal/run"

// Cancel implements run.Runner.
func (r *Runner) Cancel(id string, now bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
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
