// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

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
	mask  *masker
}

// lateMasks makes a masker of what values returns at each time. Nil is nothing.
func lateMasks(values func() []string) *lateMasker {
	if values == nil {
		return nil
	}
	return &lateMasker{values: values, mask: newMasker(nil)}
}

// apply masks a text. A masker is made anew only when there are other values:
// each takes as long as many lines to mask.
func (l *lateMasker) apply(text string) string {
	if l == nil {
		return text
	}
	return l.current().apply(text)
}

func (l *lateMasker) current() *masker {
	l.mu.Lock()
	defer l.mu.Unlock()
	if values := l.values(); !slices.Equal(values, l.known) {
		l.known, l.mask = values, newMasker(values)
	}
	return l.mask
}
