// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package places gives out a fixed number of places for runs, in the order in
// which Stacks ask, and of these not more than a number to each namespace. It has
// no clock, no lock and no goroutine: whoever uses it has them.
package places

import (
	"slices"
	"time"
)

// Patience is how long a place is kept for the Stack whose turn it is. One that
// has been deleted or suspended in the meantime does not come.
const Patience = time.Minute

// Stack names a Stack.
type Stack struct{ Namespace, Name string }

// Places are the places and who waits for one.
type Places struct {
	size, perNamespace int
	taken              map[Stack]bool
	queue              []waiting
}

// waiting is a Stack in the queue.
type waiting struct {
	stack Stack
	// offered is when the Stack was told that a place is kept for it; zero before.
	offered time.Time
}

// New returns that number of places, at least one, none of which is taken. A
// namespace has at most perNamespace of them; 0 is no such bound.
func New(size, perNamespace int) *Places {
	return &Places{size: max(size, 1), perNamespace: perNamespace, taken: make(map[Stack]bool)}
}

// Reserve takes a place for the Stack if it is its turn, and otherwise puts the
// Stack into the queue, once. Asking again changes nothing.
func (p *Places) Reserve(stack Stack) bool {
	if p.taken[stack] {
		return true
	}
	turn := slices.IndexFunc(p.queue, func(w waiting) bool { return w.stack == stack })
	if turn < 0 {
		turn = len(p.queue)
		p.queue = append(p.queue, waiting{stack: stack})
	}
	if !slices.Contains(p.next(), turn) {
		return false
	}
	p.queue = slices.Delete(p.queue, turn, turn+1)
	p.taken[stack] = true
	return true
}

// Take takes a place whether there is one or not, for a run that is in flight
// already.
func (p *Places) Take(stack Stack) {
	p.Release(stack)
	p.taken[stack] = true
}

// Taken tells whether the Stack has a place.
func (p *Places) Taken(stack Stack) bool { return p.taken[stack] }

// Waiting is how many Stacks are in the queue.
func (p *Places) Waiting() int { return len(p.queue) }

// Release gives back the place of a Stack, or its place in the queue.
func (p *Places) Release(stack Stack) {
	delete(p.taken, stack)
	p.queue = slices.DeleteFunc(p.queue, func(w waiting) bool { return w.stack == stack })
}

// Offer lists the Stacks that a place is free for and that have not been told.
func (p *Places) Offer(now time.Time) []Stack {
	var told []Stack
	for _, i := range p.next() {
		if p.queue[i].offered.IsZero() {
			p.queue[i].offered = now
			told = append(told, p.queue[i].stack)
		}
	}
	return told
}

// Lapse drops the Stacks that did not come for the place kept for them.
func (p *Places) Lapse(now time.Time) {
	p.queue = slices.DeleteFunc(p.queue, func(w waiting) bool {
		return !w.offered.IsZero() && now.Sub(w.offered) >= Patience
	})
}

// next are the positions in the queue of those for whom there is a place. One whose
// namespace has all that it may have does not keep those behind it waiting.
func (p *Places) next() []int {
	free := p.size - len(p.taken)
	if free <= 0 {
		return nil
	}
	of := make(map[string]int)
	for stack := range p.taken {
		of[stack.Namespace]++
	}
	var next []int
	for i := range p.queue {
		namespace := p.queue[i].stack.Namespace
		if len(next) == free {
			break
		}
		if p.perNamespace > 0 && of[namespace] >= p.perNamespace {
			continue
		}
		of[namespace]++
		next = append(next, i)
	}
	return next
}
