// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"cmp"
	"slices"
	"strings"
)

const (
	MaskText = "***"
	// shortMask is the length below which a value is masked only as a whole word: masking
	// every "a" would make any text unreadable.
	shortMask = 4
	// maskedLine is the length from which a part of a value, such as a line, is masked
	// wherever it occurs: tools like to print keys and certificates line by line.
	maskedLine = 8
	// maxPattern is the length above which a value is looked for in pieces, to bound how
	// much is compared at each position of a text.
	maxPattern = 4 << 10
	// maxTorn is the longest escape that may be cut off: a surrogate pair in JSON within
	// JSON.
	maxTorn = 16
)

// Masker masks secret values in texts: it looks for the patterns of each value in all
// views of a text.
type Masker struct {
	// long holds patterns of at least maskedLine bytes and middle those of at least
	// shortMask. words and short match only as whole words.
	long, middle, words, short patterns
	// starts says what any pattern can begin with.
	starts *starts
	// evenBlanks says that some patterns contain blanks, which match any run of blanks.
	evenBlanks bool
	// filter is what Pulumi did to a text before it gets here.
	filter engineFilter
	// late masks values that change outside the run. Nil means there are none.
	late *lateMasker
}

// Text masks the values in a text that Pulumi has not filtered.
func Text(text string, values []string) string { return New(values).Apply(text) }

// New returns a masker of the values for texts that Pulumi has not filtered.
func New(values []string) *Masker { return Filtered(nil, values) }

// Filtered returns a masker of the values for texts in which Pulumi may have replaced its
// config secrets.
func Filtered(config, values []string) *Masker {
	begins := new(starts)
	m := &Masker{
		long: newPatterns(maskedLine, begins), middle: newPatterns(shortMask, begins),
		words: newPatterns(shortMask, begins), short: newPatterns(1, begins),
		starts: begins, filter: newEngineFilter(config),
	}
	m.AddSecrets(values)
	return m
}

// AddSecrets adds values to mask from now on. Masking an already masked text again does not
// work well: an earlier mask may have replaced part of a new value.
func (m *Masker) AddSecrets(values []string) {
	for _, value := range withParts(values) {
		formsOf(value, func(form string, asWord bool) {
			for _, filtered := range m.filter.variants(form) {
				m.add(filtered, asWord)
			}
		})
		for _, encoded := range base64Forms(value.text) {
			for _, filtered := range m.filter.variants(encoded)[1:] {
				m.add(filtered, false)
			}
		}
	}
	for _, all := range []patterns{m.long, m.middle, m.words, m.short} {
		all.sort()
	}
}

func (m *Masker) add(pattern string, asWord bool) {
	if pattern == "" {
		return
	}
	m.evenBlanks = m.evenBlanks || strings.ContainsAny(pattern, blankBytes)
	for len(pattern) > maxPattern {
		m.long.add(pattern[:maxPattern])
		// The pieces overlap, so that they become one mask. The last is as long as the
		// others.
		pattern = pattern[min(maxPattern-1, len(pattern)-maxPattern):]
	}
	switch {
	case len(pattern) < shortMask:
		m.short.add(pattern)
	case asWord:
		m.words.add(pattern)
	case len(pattern) < maskedLine:
		m.middle.add(pattern)
	default:
		m.long.add(pattern)
	}
}

// Apply masks a text.
func (m *Masker) Apply(text string) string { return m.mask(text, whole) }

// ApplyCut masks a text whose end is missing, which may have cut a value in two.
func (m *Masker) ApplyCut(text string) string { return m.mask(text, withoutEnd) }

// ApplyRest masks a text whose beginning is missing, which may have cut a value in two.
func (m *Masker) ApplyRest(text string) string { return m.mask(text, withoutBeginning) }

// missing says which end of a text has been cut off.
type missing int

const (
	whole missing = iota
	withoutEnd
	withoutBeginning
)

func (m *Masker) mask(text string, lacks missing) string {
	text = maskAccountTokens(text)
	var found []span
	for _, v := range viewsOf(text, m.evenBlanks) {
		found = m.find(found, v, lacks == withoutEnd)
		if length := m.restIn(v.text); lacks == withoutBeginning && length > 0 {
			found = append(found, v.source(0, length))
		}
	}
	return m.late.mask(without(text, found), lacks)
}

// span is a half-open range of bytes of a text.
type span struct{ from, to int }

// find appends the spans of the patterns in a view. Patterns may overlap: the union of
// their spans is masked.
func (m *Masker) find(found []span, v view, isCut bool) []span {
	for at := range len(v.text) {
		if !m.starts.has(v.text[at:]) {
			continue
		}
		length := m.match(v, at)
		if isCut && length < len(v.text)-at && m.isBeginning(v.text[at:]) {
			length = len(v.text) - at
		}
		if length > 0 {
			found = append(found, v.source(at, at+length))
		}
	}
	return found
}

// match returns the length of the longest pattern at a position of a view. Short patterns
// are ignored in guessed views, as random bytes contain all of them.
func (m *Masker) match(v view, at int) int {
	rest := v.text[at:]
	if length := m.long.match(rest, anywhere); length > 0 {
		return length
	}
	word := func(length int) bool { return isWord(v.text, at, at+length) }
	length := max(m.middle.match(rest, anywhere), m.words.match(rest, word))
	if v.isGuess {
		return length
	}
	return max(length, m.short.match(rest, word))
}

// isBeginning reports whether the end of a text may be the beginning of a pattern. Its last
// bytes may not match, as they may come from a cut escape or base64 group. An end shorter
// than shortMask says nothing.
func (m *Masker) isBeginning(text string) bool {
	return len(text) >= shortMask && (m.long.beginIn(text, maxTorn) || m.middle.beginIn(text, maxTorn) || m.words.beginIn(text, maxTorn))
}

// restIn returns the length of the longest beginning of a text that is the end of a
// pattern: the counterpart of isBeginning.
func (m *Masker) restIn(text string) int {
	return max(m.long.endIn(text, maxTorn), m.middle.endIn(text, maxTorn), m.words.endIn(text, maxTorn))
}

// without replaces each span with a mask.
func without(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var out strings.Builder
	done := 0
	for n := 0; n < len(spans); {
		masked := spans[n]
		for n++; n < len(spans) && spans[n].from < masked.to; n++ {
			masked.to = max(masked.to, spans[n].to)
		}
		out.WriteString(text[done:masked.from])
		out.WriteString(MaskText)
		done = masked.to
	}
	out.WriteString(text[done:])
	return out.String()
}
