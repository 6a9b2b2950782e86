// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// patterns are texts indexed by their first bytes. A value may be a bundle of ten thousand
// lines, for which a strings.Replacer would take a hundred times the memory.
type patterns struct {
	// width is the number of bytes of the index.
	width int
	// byStart lists the patterns of each start, longest first.
	byStart map[string][]string
	// starts says what these and other patterns can begin with.
	starts *starts
}

// starts says for each two bytes whether a pattern begins with them, to skip most
// positions of a text.
type starts [1 << 8][1 << 8 / 64]uint64

func (s *starts) add(pattern string) {
	next := &s[pattern[0]]
	if len(pattern) > 1 {
		next[pattern[1]/64] |= 1 << (pattern[1] % 64)
		return
	}
	for n := range next {
		next[n] = math.MaxUint64
	}
}

// has reports whether a pattern may begin at the start of a text, which must not be empty. A
// text of one byte always may.
func (s *starts) has(text string) bool {
	return len(text) < 2 || s[text[0]][text[1]/64]&(1<<(text[1]%64)) != 0
}

func newPatterns(width int, starts *starts) patterns {
	return patterns{width: width, byStart: map[string][]string{}, starts: starts}
}

// add adds a pattern of at least width bytes. Call sort after the last one.
func (p patterns) add(pattern string) {
	p.starts.add(pattern)
	p.byStart[pattern[:p.width]] = append(p.byStart[pattern[:p.width]], pattern)
}

func (p patterns) sort() {
	for start, all := range p.byStart {
		slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		p.byStart[start] = slices.Compact(all)
	}
}

// match returns the length of the longest pattern that the text begins with and that fits.
func (p patterns) match(text string, fits func(length int) bool) int {
	for _, pattern := range p.candidates(text) {
		if strings.HasPrefix(text, pattern) && fits(len(pattern)) {
			return len(pattern)
		}
	}
	return 0
}

// beginIn reports whether a pattern begins with the text, except for up to torn bytes at the
// end of the text.
func (p patterns) beginIn(text string, torn int) bool {
	begins := func(pattern string) bool {
		same := 0
		for same < min(len(pattern), len(text)) && pattern[same] == text[same] {
			same++
		}
		return same < len(pattern) && same >= shortMask && same >= len(text)-torn
	}
	if len(text)-torn >= p.width {
		return slices.ContainsFunc(p.candidates(text), begins)
	}
	for _, all := range p.byStart {
		if slices.ContainsFunc(all, begins) {
			return true
		}
	}
	return false
}

// endIn returns the length of the longest beginning of the text that is the end of a
// pattern, except for up to torn bytes at the start of the text, or 0 if there is none.
func (p patterns) endIn(text string, torn int) int {
	longest := 0
	for from := 0; from <= min(torn, len(text)-shortMask); from++ {
		for _, all := range p.byStart {
			for _, pattern := range all {
				if length := endLength(pattern, text[from:]); length > 0 {
					longest = max(longest, from+length)
				}
			}
		}
	}
	return longest
}

// endLength returns the length of the longest proper suffix of a pattern that the text
// begins with. The text has at least shortMask bytes.
func endLength(pattern, text string) int {
	for at := 1; ; at++ {
		next := strings.Index(pattern[min(at, len(pattern)):], text[:shortMask])
		if next < 0 {
			return 0
		}
		if at += next; strings.HasPrefix(text, pattern[at:]) {
			return len(pattern) - at
		}
	}
}

func anywhere(int) bool { return true }

// isWord reports whether a part of a text is a whole word: no letter, digit or underscore
// adjoins it.
func isWord(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// matches returns the lengths of all patterns that the text begins with.
func (p patterns) matches(text string) []int {
	var lengths []int
	for _, pattern := range p.candidates(text) {
		if strings.HasPrefix(text, pattern) {
			lengths = append(lengths, len(pattern))
		}
	}
	return lengths
}

func (p patterns) candidates(text string) []string {
	if len(text) < p.width || !p.starts.has(text) {
		return nil
	}
	return p.byStart[text[:p.width]]
}
