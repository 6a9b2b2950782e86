// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package places gives out a fixed number of places for runs, and of these not more
// than a number to each namespace. Namespaces that wait take turns, and the Stacks of
// one come in the order in which they ask. It has no clock, no lock and no goroutine:
// whoever uses it has them.
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
	// served has when a namespace that has a place, or waits for one, was last given one,
	// counted in places.
	served map[string]int
	given  int
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
	return &Places{size: max(size, 1), perNamespace: perNamespace, taken: make(map[Stack]bool), served: make(map[string]int)}
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
		p.queue[turn].offered = time.Time{} // it is told again
		return false
	}
	p.queue = slices.Delete(p.queue, turn, turn+1)
	p.taken[stack] = true
	p.given++
	p.served[stack.Namespace] = p.given
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
	p.tidy(stack.Namespace)
}

// tidy forgets when a namespace was served that has no place and waits for none.
func (p *Places) tidy(namespace string) {
	waits := slices.ContainsFunc(p.queue, func(w waiting) bool { return w.stack.Namespace == namespace })
	for stack := range p.taken {
		waits = waits || stack.Namespace == namespace
	}
	if !waits {
		delete(p.served, namespace)
	}
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

// next are the positions in the queue of those for whom there is a place: first those
// who were told so, and then of each namespace in turn, the one with the fewest places
// first, and of two such the one that was given a place longer ago. One whose namespace
// has all that it may have does not keep others waiting.
func (p *Places) next() []int {
	of := make(map[string]int)
	for stack := range p.taken {
		of[stack.Namespace]++
	}
	free := p.size
	for _, has := range of {
		if p.perNamespace > 0 {
			has = min(has, p.perNamespace) // what it has taken beyond that is not at the expense of others
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

// mayHave tells whether the namespace of the one at that position may have another place.
func (p *Places) mayHave(i int, of map[string]int) bool {
	return p.perNamespace <= 0 || of[p.queue[i].stack.Namespace] < p.perNamespace
}

// isBefore tells whether the one at that position comes before one that has asked earlier.
func (p *Places) isBefore(i, earlier int, of map[string]int) bool {
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
