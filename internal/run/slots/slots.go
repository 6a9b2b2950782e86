// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package slots limits how many runs are in flight, in all and for each namespace.
// Waiting namespaces take turns; the Stacks of one namespace are served in the order in
// which they asked. The package has no clock, no lock and no goroutine: its callers do.
package slots

import (
	"slices"
	"time"
)

// Patience is how long a slot is kept for the Stack whose turn it is. A Stack that was
// deleted or suspended in the meantime never claims it.
const Patience = time.Minute

// Stack names a Stack.
type Stack struct{ Namespace, Name string }

// Pool holds the slots, and the queue of the Stacks that wait for one.
type Pool struct {
	size, perNamespace int
	taken              map[Stack]bool
	queue              []waiting
	// served is the value of given when a namespace last got a slot. Namespaces that
	// neither have a slot nor wait for one are dropped.
	served map[string]int
	given  int
}

// waiting is a Stack in the queue.
type waiting struct {
	stack Stack
	// offered is when the Stack was told that a slot is kept for it, zero until then.
	offered time.Time
}

// New returns a Pool of that many free slots, at least one. A namespace gets at most
// perNamespace of them; 0 means no limit.
func New(size, perNamespace int) *Pool {
	return &Pool{size: max(size, 1), perNamespace: perNamespace, taken: make(map[Stack]bool), served: make(map[string]int)}
}

// Reserve takes a slot if it is the Stack's turn, and queues the Stack otherwise. It is
// idempotent.
func (p *Pool) Reserve(stack Stack) bool {
	if p.taken[stack] {
		return true
	}
	turn := slices.IndexFunc(p.queue, func(w waiting) bool { return w.stack == stack })
	if turn < 0 {
		turn = len(p.queue)
		p.queue = append(p.queue, waiting{stack: stack})
	}
	if !slices.Contains(p.next(), turn) {
		p.queue[turn].offered = time.Time{} // offer it a slot again
		return false
	}
	p.queue = slices.Delete(p.queue, turn, turn+1)
	p.taken[stack] = true
	p.given++
	p.served[stack.Namespace] = p.given
	return true
}

// Take takes a slot whether or not one is free, for a run that is already in flight.
func (p *Pool) Take(stack Stack) {
	p.Release(stack)
	p.taken[stack] = true
}

// Taken reports whether the Stack has a slot.
func (p *Pool) Taken(stack Stack) bool { return p.taken[stack] }

// Waiting returns the length of the queue.
func (p *Pool) Waiting() int { return len(p.queue) }

// Release frees the slot of a Stack, and removes the Stack from the queue.
func (p *Pool) Release(stack Stack) {
	delete(p.taken, stack)
	p.queue = slices.DeleteFunc(p.queue, func(w waiting) bool { return w.stack == stack })
	p.tidy(stack.Namespace)
}

// tidy drops what is known of a namespace that neither has a slot nor waits for one.
func (p *Pool) tidy(namespace string) {
	waits := slices.ContainsFunc(p.queue, func(w waiting) bool { return w.stack.Namespace == namespace })
	for stack := range p.taken {
		waits = waits || stack.Namespace == namespace
	}
	if !waits {
		delete(p.served, namespace)
	}
}

// Offer returns the Stacks that have a free slot waiting and were not told so yet.
func (p *Pool) Offer(now time.Time) []Stack {
	var told []Stack
	for _, i := range p.next() {
		if p.queue[i].offered.IsZero() {
			p.queue[i].offered = now
			told = append(told, p.queue[i].stack)
		}
	}
	return told
}

// Lapse drops the Stacks that did not claim the slot kept for them within Patience.
func (p *Pool) Lapse(now time.Time) {
	var lapsed []Stack
	p.queue = slices.DeleteFunc(p.queue, func(w waiting) bool {
		late := !w.offered.IsZero() && now.Sub(w.offered) >= Patience
		if late {
			lapsed = append(lapsed, w.stack)
		}
		return late
	})
	for _, stack := range lapsed {
		p.tidy(stack.Namespace)
	}
}

// next returns the queue positions of the Stacks that get the free slots: first those
// that were offered one, then the namespace with the fewest slots, then the namespace
// that was served least recently. A namespace at its limit does not hold up the others.
func (p *Pool) next() []int {
	of := make(map[string]int)
	for stack := range p.taken {
		of[stack.Namespace]++
	}
	free := p.size
	for _, has := range of {
		if p.perNamespace > 0 {
			has = min(has, p.perNamespace) // slots taken beyond the limit (Take) do not count against other namespaces
		}
		free -= has
	}
	var next []int
	for len(next) < free {
		best := -1
		for i := range p.queue {
			if p.mayHave(i, of) && !slices.Contains(next, i) && (best < 0 || p.isBefore(i, best, of)) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		of[p.queue[best].stack.Namespace]++
		next = append(next, best)
	}
	return next
}

// mayHave reports whether the namespace at that queue position is below its limit.
func (p *Pool) mayHave(i int, of map[string]int) bool {
	return p.perNamespace <= 0 || of[p.queue[i].stack.Namespace] < p.perNamespace
}

// isBefore reports whether position i is served before position earlier, which asked first.
func (p *Pool) isBefore(i, earlier int, of map[string]int) bool {
	a, b := p.queue[i], p.queue[earlier]
	if a.offered.IsZero() != b.offered.IsZero() {
		return !a.offered.IsZero()
	}
	in, other := a.stack.Namespace, b.stack.Namespace
	if of[in] != of[other] {
		return of[in] < of[other]
	}
	return p.served[in] < p.served[other]
}
