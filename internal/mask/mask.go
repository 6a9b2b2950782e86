// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"cmp"
	"slices"
	"strings"
)

const (
	maskText = "***"
	// shortMask is the length under which a value is masked as a whole word
	// only: "a" in every word would make any text unreadable.
	shortMask = 4
	// maskedLine is the length from which a part of a value, such as a line, is masked
	// wherever it stands, as tools like to print keys and certificates line by line.
	maskedLine = 8
	// maxNeedle is the length from which a value is looked for in parts: at each place
	// of a text no more than so much is compared.
	maxNeedle = 4 << 10
	// maxTorn is how long an escape may be of which the end is missing: two halves of a
	// character in JSON, in JSON.
	maxTorn = 16
)

// Masker takes secret values out of texts: it looks for the needles of each value in
// all views of a text.
type Masker struct {
	// long are the needles of at least maskedLine bytes, middle the others of at least
	// shortMask, and words and short are those that are masked as a whole word only.
	long, middle, words, short needles
	// starts are what any of them begins with.
	starts *starts
	// evenBlanks says that some of them have blanks in them, which are found however
	// many there are of each.
	evenBlanks bool
	// filter is what Pulumi does to a text before it is seen here.
	filter engineFilter
	// late takes out what comes up outside the run. Nil is nothing.
	late *lateMasker
}

// Text takes the values out of a text that Pulumi has nothing to do with, as they are
// taken out of what it prints.
func Text(text string, values []string) string { return New(values).Apply(text) }

// New makes a masker of the values for texts that Pulumi has not filtered.
func New(values []string) *Masker { return Filtered(nil, values) }

// Filtered makes a masker of the values for texts in which Pulumi may have put
// something in the place of its secret config.
func Filtered(config, values []string) *Masker {
	begins := new(starts)
	m := &Masker{
		long: newNeedles(maskedLine, begins), middle: newNeedles(shortMask, begins),
		words: newNeedles(shortMask, begins), short: newNeedles(1, begins),
		starts: begins, filter: newEngineFilter(config),
	}
	m.Learn(values)
	return m
}

// Learn has the masker take out more values from now on. What it has masked before
// is not masked well again: a value may have had another one in it.
func (m *Masker) Learn(values []string) {
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
	for _, all := range []needles{m.long, m.middle, m.words, m.short} {
		all.sort()
	}
}

func (m *Masker) add(needle string, asWord bool) {
	if needle == "" {
		return
	}
	m.evenBlanks = m.evenBlanks || strings.ContainsAny(needle, blankBytes)
	for len(needle) > maxNeedle {
		m.long.add(needle[:maxNeedle])
		// Parts that overlap are one mask. The last one is as long as the others.
		needle = needle[min(maxNeedle-1, len(needle)-maxNeedle):]
	}
	switch {
	case len(needle) < shortMask:
		m.short.add(needle)
	case asWord:
		m.words.add(needle)
	case len(needle) < maskedLine:
		m.middle.add(needle)
	default:
		m.long.add(needle)
	}
}

// Apply masks a text.
func (m *Masker) Apply(text string) string { return m.mask(text, whole) }

// ApplyCut masks a text whose end is missing: a value may have been cut in two.
func (m *Masker) ApplyCut(text string) string { return m.mask(text, withoutEnd) }

// ApplyRest masks a text whose beginning is missing.
func (m *Masker) ApplyRest(text string) string { return m.mask(text, withoutBeginning) }

// missing is what a text does not have of a longer one.
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

// span is a part of a text, from its first byte to the one after its last.
type span struct{ from, to int }

// find adds where in the text that the view is of a needle is. Needles may overlap: of
// two that do nothing is left.
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

// match is the length of the longest needle at a place of a view. A short one is in
// anything that is no text.
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

// isBeginning tells whether the end of a text may be the beginning of a needle. The
// last of it may be a part of an escape, or what a part of a group of base64 is read as.
// One that is as short as what is left of others says nothing.
func (m *Masker) isBeginning(text string) bool {
	return len(text) >= shortMask && (m.long.beginIn(text, maxTorn) || m.middle.beginIn(text, maxTorn) || m.words.beginIn(text, maxTorn))
}

// restIn is where the longest end of a needle ends that a text begins with, as
// isBeginning tells of its end.
func (m *Masker) restIn(text string) int {
	return max(m.long.endIn(text, maxTorn), m.middle.endIn(text, maxTorn), m.words.endIn(text, maxTorn))
}

// without puts a mask in the place of each span.
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
		out.WriteString(maskText)
		done = masked.to
	}
	out.WriteString(text[done:])
	return out.String()
}
