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

// needles are texts indexed by their first bytes. A value may be a bundle of ten thousand
// lines, for which a strings.Replacer would take a hundred times the memory.
type needles struct {
	// width is the number of bytes of the index.
	width int
	// byStart lists the needles of each start, longest first.
	byStart map[string][]string
	// starts says what these and other needles can begin with.
	starts *starts
}

// starts says for each two bytes whether a needle begins with them, to skip most
// positions of a text.
type starts [1 << 8][1 << 8 / 64]uint64

func (s *starts) add(needle string) {
	next := &s[needle[0]]
	if len(needle) > 1 {
		next[needle[1]/64] |= 1 << (needle[1] % 64)
		return
	}
	for n := range next {
		next[n] = math.MaxUint64
	}
}

// has tells whether a needle may begin at the start of a text, which must not be empty. A
// text of one byte always may.
func (s *starts) has(text string) bool {
	return len(text) < 2 || s[text[0]][text[1]/64]&(1<<(text[1]%64)) != 0
}

func newNeedles(width int, starts *starts) needles {
	return needles{width: width, byStart: map[string][]string{}, starts: starts}
}

// add adds a needle of at least width bytes. Call sort after the last one.
func (n needles) add(needle string) {
	n.starts.add(needle)
	n.byStart[needle[:n.width]] = append(n.byStart[needle[:n.width]], needle)
}

func (n needles) sort() {
	for start, all := range n.byStart {
		slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		n.byStart[start] = slices.Compact(all)
	}
}

// match returns the length of the longest needle that the text begins with and that fits.
func (n needles) match(text string, fits func(length int) bool) int {
	for _, needle := range n.candidates(text) {
		if strings.HasPrefix(text, needle) && fits(len(needle)) {
			return len(needle)
		}
	}
	return 0
}

// beginIn tells whether a needle begins with the text, except for up to torn bytes at the
// end of the text.
func (n needles) beginIn(text string, torn int) bool {
	begins := func(needle string) bool {
		same := 0
		for same < min(len(needle), len(text)) && needle[same] == text[same] {
			same++
		}
		return same < len(needle) && same >= shortMask && same >= len(text)-torn
	}
	if len(text)-torn >= n.width {
		return slices.ContainsFunc(n.candidates(text), begins)
	}
	for _, all := range n.byStart {
		if slices.ContainsFunc(all, begins) {
			return true
		}
	}
	return false
}

// endIn returns the length of the longest beginning of the text that is the end of a
// needle, except for up to torn bytes at the start of the text, or 0 if there is none.
func (n needles) endIn(text string, torn int) int {
	longest := 0
	for from := 0; from <= min(torn, len(text)-shortMask); from++ {
		for _, all := range n.byStart {
			for _, needle := range all {
				if length := endLength(needle, text[from:]); length > 0 {
					longest = max(longest, from+length)
				}
			}
		}
	}
	return longest
}

// endLength returns the length of the longest proper suffix of a needle that the text
// begins with. The text has at least shortMask bytes.
func endLength(needle, text string) int {
	for at := 1; ; at++ {
		next := strings.Index(needle[min(at, len(needle)):], text[:shortMask])
		if next < 0 {
			return 0
		}
		if at += next; strings.HasPrefix(text, needle[at:]) {
			return len(needle) - at
		}
	}
}

func anywhere(int) bool { return true }

// isWord tells whether a part of a text is a whole word: no letter, digit or underscore
// adjoins it.
func isWord(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// matches returns the lengths of all needles that the text begins with.
func (n needles) matches(text string) []int {
	var lengths []int
	for _, needle := range n.candidates(text) {
		if strings.HasPrefix(text, needle) {
			lengths = append(lengths, len(needle))
		}
	}
	return lengths
}

func (n needles) candidates(text string) []string {
	if len(text) < n.width || !n.starts.has(text) {
		return nil
	}
	return n.byStart[text[:n.width]]
}
