// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"slices"
	"sync"
)

// lateMasker takes values out of texts that come up while a run goes on, such as
// renewed tokens.
type lateMasker struct {
	values func() []string

	mu    sync.Mutex
	known []string
	last  *Masker
}

// Follow has the masker also take out what values returns at each time. Nil is nothing.
func (m *Masker) Follow(values func() []string) {
	m.late = nil
	if values != nil {
		m.late = &lateMasker{values: values, last: New(nil)}
	}
}

// mask masks a text. A masker is made anew only when there are other values:
// each takes as long as many lines to mask.
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
