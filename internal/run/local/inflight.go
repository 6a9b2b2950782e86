// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/flux-pulumi/pulumi-controller/internal/run"

// InFlight lists the runs that have not ended.
func (r *Runner) InFlight() []run.Ref {
	r.mu.Lock()
	defer r.mu.Unlock()
	var inFlight []run.Ref
	for id, known := range r.runs {
		if known.result == nil {
			inFlight = append(inFlight, run.Ref{ID: id, Namespace: known.stack.Namespace, Name: known.stack.Name})
		}
	}
	return inFlight
}
