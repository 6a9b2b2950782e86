// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// Background implements run.Runner.
func (r *Runner) Background() run.Slots { return r.guarded(true) }

func (r *Runner) guarded(inBackground bool) run.Slots {
	return slots.Guarded{Pool: r.slots.Of(inBackground), Startable: r.ifStartable, Unused: r.ifUnused}
}

// ifStartable calls do unless a run of the Stack is in flight. A Stack that was deleted and
// recreated during its run gets a slot only after that run ends, and is notified then.
func (r *Runner) ifStartable(stack slots.Stack, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed && !r.inFlight(stack) {
		do()
	}
}

func (r *Runner) ifUnused(stack slots.Stack, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.inFlight(stack) {
		do()
	}
}
