// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"slices"
	"time"
)

// patience is how long a place is kept for the Stack whose turn it is. One that
// has been deleted or suspended in the meantime does not come.
const patience = time.Minute

// stackKey names a Stack.
type stackKey struct{ namespace, name string }

// slots gives out a fixed number of places in the order in which Stacks ask. It
// has no clock and no lock of its own.
type slots struct {
	size  int
	taken map[stackKey]bool
	queue []waiting
}

// waiting is a Stack in the queue.
type waiting struct {
	stack stackKey
	// offered is when the Stack was told that a place is kept for it; zero before.
	offered time.Time
}

func newSlots(size int) *slots {
	return &slots{size: max(size, 1), taken: make(map[stackKey]bool)}
}

// reserve takes a place for the Stack if it is its turn, and otherwise puts the
// Stack into the queue, once. Asking again changes nothing.
func (s *slots) reserve(stack stackKey) bool {
	if s.taken[stack] {
		return true
	}
	turn := slices.IndexFunc(s.queue, func(w waiting) bool { return w.stack == stack })
	if turn < 0 {
		turn = len(s.queue)
		s.queue = append(s.queue, waiting{stack: stack})
	}
	if turn >= s.size-len(s.taken) {
		return false
	}
	s.queue = slices.Delete(s.queue, turn, turn+1)
	s.taken[stack] = true
	return true
}

// release gives back the place of a Stack, or its place in the queue.
func (s *slots) release(stack stackKey) {
	delete(s.taken, stack)
	s.queue = slices.DeleteFunc(s.queue, func(w waiting) bool { return w.stack == stack })
}

// offer lists the Stacks that a place is free for and that have not been told.
func (s *slots) offer(now time.Time) []stackKey {
	var told []stackKey
	for i := range s.queue[:min(s.size-len(s.taken), len(s.queue))] {
		if s.queue[i].offered.IsZero() {
			s.queue[i].offered = now
			told = append(told, s.queue[i].stack)
		}
	}
	return told
}

// lapse drops the Stacks that did not come for the place kept for them.
func (s *slots) lapse(now time.Time) {
	s.queue = slices.DeleteFunc(s.queue, func(w waiting) bool {
		return !w.offered.IsZero() && now.Sub(w.offered) >= patience
	})
}
