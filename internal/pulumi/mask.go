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

// masker takes secret values out of texts. A value may be a bundle of ten
// thousand lines, so what is looked for is found by its first bytes: a
// strings.Replacer of as many takes a hundred times the memory.
type masker struct {
	// long are the texts of at least maskedLine bytes, by the first of them, and
	// middle the others of at least shortMask bytes; the longest comes first.
	long, middle map[string][]string
	short        []string
	// late takes out what comes up outside the run, and later what the run itself has
	// learned. Nil is nothing.
	late    *lateMasker
	later   *masker
	learned []string
}

// newMasker makes a masker of the values, and of the forms that a value takes
// in JSON, base64 and URLs.
func newMasker(values []string) *masker {
	m := &masker{long: map[string][]string{}, middle: map[string][]string{}}
	for _, value := range asTexts(values) {
		switch trimmed := strings.TrimSpace(value); {
		case trimmed == "":
		case len(trimmed) < shortMask:
			m.short = append(m.short, trimmed)
		default:
			for _, form := range append(formsOf(value), numberForms(trimmed)...) {
				m.add(form)
			}
		}
	}
	for _, byStart := range []map[string][]string{m.long, m.middle} {
		for start, forms := range byStart {
			slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
			byStart[start] = slices.Compact(forms)
		}
	}
	return m
}

// asTexts adds the texts in values that are JSON, and what becomes of values that
// are not text: JSON, gRPC and terminals put a character in the place of each byte
// that is none, or of all in a row.
func asTexts(values []string) []string {
	texts := slices.Clone(values)
	for _, value := range values {
		texts = append(texts, textsInJSON(value)...)
		if !utf8.ValidString(value) {
			texts = append(texts, string([]rune(value)), strings.ToValidUTF8(value, string(utf8.RuneError)))
		}
	}
	return texts
}

func (m *masker) add(form string) {
	switch {
	case len(form) >= maskedLine:
		m.long[form[:maskedLine]] = append(m.long[form[:maskedLine]], form)
	case len(form) >= shortMask:
		m.middle[form[:shortMask]] = append(m.middle[form[:shortMask]], form)
	}
}

// formsOf lists the ways in which a value can stand in a text. Its lines may
// stand alone, but are not encoded one by one.
func formsOf(value string) []string {
	trimmed := strings.TrimSpace(value)
	var forms []string
	for _, text := range []string{value, trimmed} {
		forms = append(forms, text, quoted(text, true), quoted(text, false),
			base64.StdEncoding.EncodeToString([]byte(text)), base64.RawStdEncoding.EncodeToString([]byte(text)),
			base64.URLEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)),
			url.QueryEscape(text), url.PathEscape(text))
	}
	if !strings.ContainsAny(trimmed, "\r\n") {
		return forms
	}
	for line := range strings.Lines(trimmed) {
		if line = strings.TrimSpace(line); len(line) < maskedLine {
			continue
		}
		forms = append(forms, line)
		if json := quoted(line, false); json != line {
			forms = append(forms, json)
		}
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
	text = m.replaceLong(maskAccountTokens(text))
	for _, word := range m.short {
		text = replaceWord(text, word)
	}
	if text = m.late.apply(text); m.later != nil {
		text = m.later.apply(text)
	}
	return text
}

// replaceLong masks from left to right, and the longest that fits at a place: the
// rest of a longer value would stay.
func (m *masker) replaceLong(text string) string {
	var out strings.Builder
	done := 0
	for at := 0; at+shortMask <= len(text); {
		length := m.match(text[at:])
		if length == 0 {
			at++
			continue
		}
		out.WriteString(text[done:at])
		out.WriteString(maskText)
		at += length
		done = at
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// match is the length of the longest text to mask that this one begins with.
func (m *masker) match(text string) int {
	if len(text) >= maskedLine {
		if length := longestPrefix(text, m.long[text[:maskedLine]]); length > 0 {
			return length
		}
	}
	return longestPrefix(text, m.middle[text[:shortMask]])
}

func longestPrefix(text string, forms []string) int {
	for _, form := range forms {
		if strings.HasPrefix(text, form) {
			return len(form)
		}
	}
	return 0
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
