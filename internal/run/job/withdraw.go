// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import "github.com/flux-pulumi/pulumi-controller/internal/run"

// Withdrawable reports whether Withdraw may end the run: it has a Job of which no pod has
// begun the run, and it was not withdrawn before.
func (r *Runner) Withdrawable(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	return ok && known.result == nil && known.unbegun && !known.withdrawn
}

// Withdraw ends a run that no pod has begun, because its Stack asks for something else by
// now. If a pod begins the run first, the run goes on.
func (r *Runner) Withdraw(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok && known.result == nil && !known.withdrawn {
		known.withdrawn = true
		r.queue.Add(known.key)
	}
}

func (r *Runner) isWithdrawn(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	return ok && known.withdrawn
}

// withdrawnBefore is the result of a run that was withdrawn before a pod had begun it.
func withdrawnBefore(s seen) *run.Result {
	return &run.Result{
		Outcome: run.Cancelled, Message: "withdrawn: the Stack was edited or deleted, or its preview request removed, before a pod started the run; Pulumi was not started",
		StartedAt: startOf(s), EndedAt: s.now,
	}
}
