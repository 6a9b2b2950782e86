// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maskText = "***"
	// shortMask is the length under which a value is masked as a whole word
	// only: "a" in every word would make any text unreadable.
	shortMask = 4
	// maskedLine is the length from which a single line of a value is masked,
	// as tools like to print keys and certificates line by line.
	maskedLine = 8
)

// masker takes secret values out of texts.
type masker struct {
	long  *strings.Replacer
	short []string
}

// newMasker makes a masker of the values, and of the forms that a value takes
// in JSON, base64 and URLs.
func newMasker(values []string) *masker {
	m := &masker{}
	var forms []string
	for _, value := range values {
		switch trimmed := strings.TrimSpace(value); {
		case trimmed == "":
		case len(trimmed) < shortMask:
			m.short = append(m.short, trimmed)
		default:
			forms = append(forms, formsOf(value)...)
		}
	}
	// The replacer takes the first of its strings that fits at a place: the
	// longest must come first, or the rest of a longer value would stay.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, maskText)
	}
	m.long = strings.NewReplacer(pairs...)
	return m
}

// formsOf lists the ways in which a value can stand in a text.
func formsOf(value string) []string {
	var forms []string
	plain := []string{value, strings.TrimSpace(value)}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= maskedLine {
			plain = append(plain, line)
		}
	}
	for _, text := range plain {
		forms = append(forms, text, quoted(text, true), quoted(text, false),
			base64.StdEncoding.EncodeToString([]byte(text)), base64.RawStdEncoding.EncodeToString([]byte(text)),
			base64.URLEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)),
			url.QueryEscape(text), url.PathEscape(text))
	}
	return forms
}

// quoted is the text as JSON writes it between the quotation marks.
func quoted(text string, escapeHTML bool) string {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(escapeHTML)
	if err := encoder.Encode(text); err != nil {
		return text // a string can always be encoded
	}
	return strings.TrimSuffix(strings.TrimPrefix(buffer.String(), `"`), "\"\n")
}

// apply masks a text.
func (m *masker) apply(text string) string {
	text = m.long.Replace(text)
	for _, word := range m.short {
		text = replaceWord(text, word)
	}
	return text
}

// replaceWord masks the word where no letter, digit or underscore touches it.
func replaceWord(text, word string) string {
	var out strings.Builder
	done := 0
	for {
		at := strings.Index(text[done:], word)
		if at < 0 {
			out.WriteString(text[done:])
			return out.String()
		}
		start, end := done+at, done+at+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		out.WriteString(text[done:start])
		if inWord(before) || inWord(after) {
			out.WriteString(word)
		} else {
			out.WriteString(maskText)
		}
		done = end
	}
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}
