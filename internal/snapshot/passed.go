// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

// maxPassed bounds the checks that are remembered.
const maxPassed = 10_000

// Passed reports whether a check of a program has passed that has the same result each time.
func (s *Store) Passed(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passed[id]
}

// SetPassed remembers that a check has passed, for as long as this process lives.
func (s *Store) SetPassed(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.passed) >= maxPassed {
		clear(s.passed) // each is found out again by one run
	}
	s.passed[id] = true
}
