// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// whereURLLeads matches the scheme and host of a URL, which are not secret.
func whereURLLeads() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#]*`) }

// hasMixed reports whether a text contains something random. The URL of a webhook, for
// example, has its secret in its path.
func hasMixed(text string) bool {
	runs := strings.FieldsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(runs, isMixed)
}

// isMixed reports whether letters and digits alternate, or the run is long. A short word
// with a few digits at its end is just numbered.
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

// isWordOnly reports whether a value is a word such as "read".
func isWordOnly(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// isRandom reports whether a text contains something that is nobody's name for a thing: a
// key, or a password with characters that names do not have.
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

// usualThings matches what only looks random: IDs of cloud resources, timestamps and
// digests.
func usualThings() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[a-z]{1,12}-[0-9a-f]{8,17}|\d{4}-?\d\d-?\d\dT[\d:.]+(?:Z|[+-][\d:]+)?|sha\d+[:-].*|.*@sha256:.*)$`)
}

// isSpiked reports whether a word has letters, digits and characters typical of passwords,
// but none that mark references, queries and patterns.
func isSpiked(word string) bool {
	at := strings.IndexAny(word, "!$%^&#?|;`")
	return at > 0 && hasKinds(word, unicode.IsLetter, unicode.IsDigit) && !strings.Contains(word, "://") && !strings.ContainsAny(word, "{}()<>=*")
}

// looksChosen reports whether a text meets the usual rules for passwords.
func looksChosen(text string) bool {
	return len(text) >= maskedLine && (isSpiked(text) || hasKinds(text, unicode.IsLower, unicode.IsUpper, unicode.IsDigit))
}

func hasKinds(text string, kinds ...func(rune) bool) bool {
	return !slices.ContainsFunc(kinds, func(is func(rune) bool) bool { return !strings.ContainsFunc(text, is) })
}
