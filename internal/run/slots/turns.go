// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"slices"
	"time"
)

// turns are the rules of a Pool: who has a slot, and whose turn is next. They have no
// clock, lock or goroutine.
type turns struct {
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
	// offered is when the Stack was woken because a slot is kept for it, zero until then.
	offered time.Time
}

func newTurns(size, perNamespace int) *turns {
	return &turns{size: max(size, 1), perNamespace: perNamespace, taken: make(map[Stack]bool), served: make(map[string]int)}
}

// reserve takes a slot if it is the Stack's turn, and queues the Stack otherwise. It is
// idempotent.
func (t *turns) reserve(stack Stack) bool {
	if t.taken[stack] {
		return true
	}
	turn := slices.IndexFunc(t.queue, func(w waiting) bool { return w.stack == stack })
	if turn < 0 {
		turn = len(t.queue)
		t.queue = append(t.queue, waiting{stack: stack})
	}
	if !slices.Contains(t.next(), turn) {
		t.queue[turn].offered = time.Time{} // offer it a slot again
		return false
	}
	t.queue = slices.Delete(t.queue, turn, turn+1)
	t.taken[stack] = true
	t.given++
	t.served[stack.Namespace] = t.given
	return true
}

// take takes a slot whether or not one is free, for a run that is already in flight.
func (t *turns) take(stack Stack) {
	t.release(stack)
	t.taken[stack] = true
}

// release frees the slot of a Stack, and removes the Stack from the queue.
func (t *turns) release(stack Stack) {
	delete(t.taken, stack)
	t.queue = slices.DeleteFunc(t.queue, func(w waiting) bool { return w.stack == stack })
	t.tidy(stack.Namespace)
}

// postpone frees the slot of a Stack, and offers it to no other for now. It returns false
// if the Stack has no slot.
func (t *turns) postpone(stack Stack, now time.Time) bool {
	if !t.taken[stack] {
		return false
	}
	delete(t.taken, stack)
	t.queue = slices.Insert(t.queue, 0, waiting{stack: stack, offered: now})
	return true
}

// tidy drops what is known of a namespace that neither has a slot nor waits for one.
func (t *turns) tidy(namespace string) {
	waits := slices.ContainsFunc(t.queue, func(w waiting) bool { return w.stack.Namespace == namespace })
	for stack := range t.taken {
		waits = waits || stack.Namespace == namespace
	}
	if !waits {
		delete(t.served, namespace)
	}
}

// offer returns the Stacks that have a free slot waiting and were not woken for it yet.
func (t *turns) offer(now time.Time) []Stack {
	var offered []Stack
	for _, i := range t.next() {
		if t.queue[i].offered.IsZero() {
			t.queue[i].offered = now
			offered = append(offered, t.queue[i].stack)
		}
	}
	return offered
}

// lapse drops the Stacks that did not claim the slot kept for them within Patience.
func (t *turns) lapse(now time.Time) {
	var lapsed []Stack
	t.queue = slices.DeleteFunc(t.queue, func(w waiting) bool {
		late := !w.offered.IsZero() && now.Sub(w.offered) >= Patience
		if late {
			lapsed = append(lapsed, w.stack)
		}
		return late
	})
	for _, stack := range lapsed {
		t.tidy(stack.Namespace)
	}
}

// next returns the queue positions of the Stacks that get the free slots: first those
// that were offered one, then the namespace with the fewest slots, then the namespace
// that was served least recently. A namespace at its limit does not hold up the others.
func (t *turns) next() []int {
	of := make(map[string]int)
	for stack := range t.taken {
		of[stack.Namespace]++
	}
	free := t.size
	for _, has := range of {
		if t.perNamespace > 0 {
			has = min(has, t.perNamespace) // slots taken beyond the limit (Take) do not count against other namespaces
		}
		free -= has
	}
	var next []int
	for len(next) < free {
		best := -1
		for i := range t.queue {
			if t.mayHave(i, of) && !slices.Contains(next, i) && (best < 0 || t.isBefore(i, best, of)) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		of[t.queue[best].stack.Namespace]++
		next = append(next, best)
	}
	return next
}

// mayHave reports whether the namespace at that queue position is below its limit.
func (t *turns) mayHave(i int, of map[string]int) bool {
	return t.perNamespace <= 0 || of[t.queue[i].stack.Namespace] < t.perNamespace
}

// isBefore reports whether position i is served before position earlier, which asked first.
func (t *turns) isBefore(i, earlier int, of map[string]int) bool {
	a, b := t.queue[i], t.queue[earlier]
	if a.offered.IsZero() != b.offered.IsZero() {
		return !a.offered.IsZero()
	}
	in, other := a.stack.Namespace, b.stack.Namespace
	if of[in] != of[other] {
		return of[in] < of[other]
	}
	return t.served[in] < t.served[other]
}
