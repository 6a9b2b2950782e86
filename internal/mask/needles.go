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

// needles are texts that are found by their first bytes. A value may be a bundle of
// ten thousand lines: a strings.Replacer of as many takes a hundred times the memory.
type needles struct {
	// width is how many bytes they are found by.
	width int
	// byStart has the longest first.
	byStart map[string][]string
	// starts are what they begin with, and others that are looked for at once.
	starts *starts
}

// starts says for each two bytes whether something begins with them: most places of a
// text begin with none.
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

// has tells it of a text that is not empty. Of its last byte alone nothing is known.
func (s *starts) has(text string) bool {
	return len(text) < 2 || s[text[0]][text[1]/64]&(1<<(text[1]%64)) != 0
}

func newNeedles(width int, starts *starts) needles {
	return needles{width: width, byStart: map[string][]string{}, starts: starts}
}

// add takes one of at least width bytes. After the last one is sort.
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

// match is the length of the longest one that the text begins with and that fits.
func (n needles) match(text string, fits func(length int) bool) int {
	for _, needle := range n.candidates(text) {
		if strings.HasPrefix(text, needle) && fits(len(needle)) {
			return len(needle)
		}
	}
	return 0
}

// beginIn tells whether one of them begins with the text, but for no more than torn
// bytes at its end.
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

// endIn is where the longest end of one of them ends that a text begins with, but for no
// more than torn bytes before it, and 0 where there is none.
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

// endLength is the length of the longest end of a needle, though not all of it, that a
// text of at least shortMask bytes begins with.
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

// isWord tells whether no letter, digit or underscore touches a part of a text.
func isWord(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// matches are the lengths of all that the text begins with.
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
