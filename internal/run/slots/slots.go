// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package slots limits how many runs are in flight, in all and for each namespace.
// Waiting namespaces take turns; the Stacks of one namespace are served in the order in
// which they asked.
package slots

import (
	"sync"
	"time"
)

// Patience is how long a slot is kept for the Stack whose turn it is. A Stack that was
// deleted or suspended in the meantime never claims it.
const Patience = time.Minute

// Stack names a Stack.
type Stack struct{ Namespace, Name string }

// Pool holds the slots, and the queue of the Stacks that wait for one. It wakes the Stacks
// whose turn it is.
type Pool struct {
	wake func(namespace, name string)

	mu    sync.Mutex
	turns *turns
}

// New returns a Pool of that many free slots, at least one. A namespace gets at most
// perNamespace of them; 0 means no limit. wake must neither block nor call the Pool.
func New(size, perNamespace int, wake func(namespace, name string)) *Pool {
	return &Pool{wake: wake, turns: newTurns(size, perNamespace)}
}

// Reserve takes a slot if it is the Stack's turn, and queues the Stack otherwise. It is
// idempotent.
func (p *Pool) Reserve(stack Stack) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns.lapse(time.Now())
	return p.turns.reserve(stack)
}

// Take takes a slot whether or not one is free, for a run that is already in flight.
func (p *Pool) Take(stack Stack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns.take(stack)
}

// Taken reports whether the Stack has a slot.
func (p *Pool) Taken(stack Stack) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turns.taken[stack]
}

// Release frees the slot of a Stack, or removes the Stack from the queue, and wakes the
// Stacks whose turn it is then.
func (p *Pool) Release(stack Stack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns.release(stack)
	p.offer()
}

// Postpone gives back the slot of a Stack that is about to reserve it again: it is kept for
// that Stack until Patience has passed since the last time.
func (p *Pool) Postpone(stack Stack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turns.postpone(stack, time.Now()) {
		time.AfterFunc(Patience, p.lapse)
	}
}

// Waiting returns how many Stacks wait for a slot.
func (p *Pool) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.turns.queue)
}

// offer wakes the Stacks whose turn it is, and makes sure that no slot is kept for them
// for ever. The caller holds the lock.
func (p *Pool) offer() {
	offered := p.turns.offer(time.Now())
	for _, stack := range offered {
		p.wake(stack.Namespace, stack.Name)
	}
	if len(offered) > 0 {
		time.AfterFunc(Patience, p.lapse)
	}
}

func (p *Pool) lapse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns.lapse(time.Now())
	p.offer()
}
