// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// Reserve implements run.Slots. Namespaces take turns, and the Stacks of one namespace
// are served in the order in which they asked. The Jobs of earlier controllers hold slots
// too.
func (r *Runner) Reserve(namespace, name string) bool {
	r.loadOnce()
	r.mu.Lock()
	defer r.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if r.closed || r.isBusy(stack) {
		r.noteAsked(stack)
		return false
	}
	return r.slots.Reserve(stack)
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

// Release implements run.Slots. It does not free the slot of a run in flight, or of one
// whose pod has not ended.
func (r *Runner) Release(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if !r.isBusy(stack) {
		r.slots.Release(stack)
	}
}

// Postpone implements run.Slots. Like Release, it frees no slot that is in use.
func (r *Runner) Postpone(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if !r.isBusy(stack) {
		r.slots.Postpone(stack)
	}
}

// takeSlot counts a run, whether or not a slot is free. The caller holds the lock.
func (r *Runner) takeSlot(known *record) {
	known.slot.held, known.slot.lapsed = true, false
	r.slots.Take(known.stack)
}

// freeSlot frees the slot of a run, unless another of the Stack holds it. The caller holds
// the lock.
func (r *Runner) freeSlot(known *record) {
	if !known.slot.held {
		return
	}
	known.slot.held = false
	for _, other := range r.runs {
		if other.stack == known.stack && other.slot.held {
			return
		}
	}
	r.slots.Release(known.stack)
}
