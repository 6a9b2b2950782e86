// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import "github.com/flux-pulumi/pulumi-controller/internal/run"

// Withdraw ends a run that no pod has started, because its Stack asks for something else by
// now. If a pod starts the run first, the run continues.
func (r *Runner) Withdraw(of run.Ref) {
	r.update(keyOf(of), func(known *record) {
		if known.inFlight() && !known.withdrawn {
			known.withdrawn = true
			r.queue.Add(keyOf(of))
		}
	})
}

// withdrawnBefore is the result of a run that was withdrawn before a pod started it.
func withdrawnBefore(s seen) *run.Result {
	return &run.Result{
		Outcome: run.Cancelled, Message: "withdrawn: the Stack was edited or deleted, its preview request removed, its plan no longer approved or its policy packs changed before a pod started the run; Pulumi was not started",
		StartedAt: startOf(s), EndedAt: s.now,
	}
}
