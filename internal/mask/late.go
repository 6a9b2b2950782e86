// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"slices"
	"sync"
)

// lateMasker masks values that only appear while a run is in progress, such as renewed
// tokens.
type lateMasker struct {
	values func() []string

	mu    sync.Mutex
	known []string
	last  *Masker
}

// Follow makes the masker also mask whatever values returns at the time. Nil stops this.
func (m *Masker) Follow(values func() []string) {
	m.late = nil
	if values != nil {
		m.late = &lateMasker{values: values, last: New(nil)}
	}
}

// mask masks a text. It builds a new Masker only when the values change: building one
// takes as long as masking many lines.
func (l *lateMasker) mask(text string, lacks missing) string {
	if l == nil {
		return text
	}
	return l.current().mask(text, lacks)
}

func (l *lateMasker) current() *Masker {
	l.mu.Lock()
	defer l.mu.Unlock()
	if values := l.values(); !slices.Equal(values, l.known) {
		l.known, l.last = values, New(values)
	}
	return l.last
}
