// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// Background implements run.Runner.
func (r *Runner) Background() run.Slots { return r.guarded(true) }

func (r *Runner) guarded(inBackground bool) run.Slots {
	return slots.Guarded{Pool: r.slots.Of(inBackground), Startable: r.ifStartable, Unused: r.ifUnused}
}

// poolOf returns the slots of a kind of run.
func (r *Runner) poolOf(operation run.Operation) *slots.Pool {
	return r.slots.Of(run.KindOf(operation).InBackground)
}

// ifStartable calls do unless a run of the Stack is in flight, or its pod has not ended. The Jobs
// of earlier controllers hold slots too.
func (r *Runner) ifStartable(stack slots.Stack, do func()) {
	r.loadOnce()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.isBusy(stack) {
		r.noteAsked(stack)
		return
	}
	do()
}

// ifUnused calls do unless a run of the Stack is in flight, or its pod has not ended.
func (r *Runner) ifUnused(stack slots.Stack, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isBusy(stack) {
		do()
	}
}

// noteAsked has the Stack woken once the pods that it waits for have ended. The caller holds
// the lock.
func (r *Runner) noteAsked(stack slots.Stack) {
	for _, known := range r.runs {
		if known.stack == stack && known.lingering != nil && known.blocksStack() {
			known.lingering.asked = true
		}
	}
}

// takeSlot counts a run, whether or not a slot is free. The caller holds the lock.
func (r *Runner) takeSlot(known *record) {
	known.slot.held, known.slot.lapsed = true, false
	known.pool.Take(known.stack)
}

// freeSlot frees the slot of a run, unless another of the Stack holds it. The caller holds
// the lock.
func (r *Runner) freeSlot(known *record) {
	if !known.slot.held {
		return
	}
	known.slot.held = false
	for _, other := range r.runs {
		if other.stack == known.stack && other.pool == known.pool && other.slot.held {
			return
		}
	}
	known.pool.Release(known.stack)
}
