// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// whereURLLeads finds the scheme and the host of a URL, which are no secret.
func whereURLLeads() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#]*`) }

// hasMixed tells whether there is something at random in a text: the URL of a webhook
// has its secret in its path.
func hasMixed(text string) bool {
	runs := strings.FieldsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(runs, isMixed)
}

// isMixed tells whether letters and digits take turns, or are many: a digit or two at
// the end of a word are the number of something.
func isMixed(run string) bool {
	if len(run) < maskedLine {
		return false
	}
	turns := 0
	for n := 1; n < len(run); n++ {
		if isDigit(run[n-1]) != isDigit(run[n]) {
			turns++
		}
	}
	const many = 16
	return turns >= 2 || turns == 1 && len(run) >= many
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWordOnly tells whether a value is a word such as "read".
func isWordOnly(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// isRandom tells whether a text has something in it that nobody would call a thing: a
// key, or a password with characters that are in no name.
func (p *parts) isRandom(text string) bool {
	if strings.Contains(text, "PRIVATE KEY") {
		return true
	}
	for word := range strings.FieldsSeq(text) {
		if len(word) >= maskedLine && (hasMixed(word) || isSpiked(word)) && !p.usual.MatchString(strings.Trim(word, "\"',;")) {
			return true
		}
	}
	return false
}

// usualThings finds what only looks so: the IDs of what is in a cloud, times and digests.
func usualThings() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[a-z]{1,12}-[0-9a-f]{8,17}|\d{4}-?\d\d-?\d\dT[\d:.]+(?:Z|[+-][\d:]+)?|sha\d+[:-].*|.*@sha256:.*)$`)
}

// isSpiked tells whether a word has letters, digits and what stands in passwords alone,
// but for what references, queries and patterns are written with.
func isSpiked(word string) bool {
	at := strings.IndexAny(word, "!$%^&#?|;`")
	return at > 0 && hasKinds(word, unicode.IsLetter, unicode.IsDigit) && !strings.Contains(word, "://") && !strings.ContainsAny(word, "{}()<>=*")
}

// looksChosen tells whether a text has all that a password is asked to have.
func looksChosen(text string) bool {
	return len(text) >= maskedLine && (isSpiked(text) || hasKinds(text, unicode.IsLower, unicode.IsUpper, unicode.IsDigit))
}

func hasKinds(text string, kinds ...func(rune) bool) bool {
	return !slices.ContainsFunc(kinds, func(is func(rune) bool) bool { return !strings.ContainsFunc(text, is) })
}
