// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// slotsOf are the slots of one pool of a Runner. It implements run.Slots.
type slotsOf struct {
	runner *Runner
	pool   *slots.Pool
}

// Reserve implements run.Slots.
func (r *Runner) Reserve(namespace, name string) bool {
	return slotsOf{r, r.slots}.Reserve(namespace, name)
}

// Release implements run.Slots.
func (r *Runner) Release(namespace, name string) { slotsOf{r, r.slots}.Release(namespace, name) }

// Postpone implements run.Slots.
func (r *Runner) Postpone(namespace, name string) { slotsOf{r, r.slots}.Postpone(namespace, name) }

// Background implements run.Runner.
func (r *Runner) Background() run.Slots { return slotsOf{r, r.background} }

// poolOf returns the slots of a kind of run.
func (r *Runner) poolOf(operation run.Operation) *slots.Pool {
	if run.KindOf(operation).InBackground {
		return r.background
	}
	return r.slots
}

// Reserve implements run.Slots. Namespaces take turns, and the Stacks of one namespace
// are served in the order in which they asked. The Jobs of earlier controllers hold slots
// too.
func (s slotsOf) Reserve(namespace, name string) bool {
	s.runner.loadOnce()
	s.runner.mu.Lock()
	defer s.runner.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if s.runner.closed || s.runner.isBusy(stack) {
		s.runner.noteAsked(stack)
		return false
	}
	return s.pool.Reserve(stack)
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
func (s slotsOf) Release(namespace, name string) {
	s.runner.mu.Lock()
	defer s.runner.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if !s.runner.isBusy(stack) {
		s.pool.Release(stack)
	}
}

// Postpone implements run.Slots. Like Release, it frees no slot that is in use.
func (s slotsOf) Postpone(namespace, name string) {
	s.runner.mu.Lock()
	defer s.runner.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if !s.runner.isBusy(stack) {
		s.pool.Postpone(stack)
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
