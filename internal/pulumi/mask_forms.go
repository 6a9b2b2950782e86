// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// secretValue is a value to mask, or a part of one. Of a structured one the parts are
// known.
type secretValue struct {
	text       string
	structured bool
}

// withParts adds the parts of values that are structured, the passwords in URLs, and
// what becomes of values that are not text: JSON, gRPC and terminals put a character
// in the place of each byte that is none, or of all in a row.
func withParts(values []string) []secretValue {
	var all []secretValue
	for _, value := range values {
		parts, structured := partsOf(value, maxNesting)
		for _, part := range append(parts, secretValue{value, structured}) {
			all = append(all, part)
			if !part.structured && !strings.ContainsAny(part.text, " \t\r\n") {
				for _, secret := range secretsOfBackend(part.text) {
					all = append(all, secretValue{text: secret})
				}
			}
		}
		if !utf8.ValidString(value) {
			all = append(all, secretValue{text: string([]rune(value))}, secretValue{text: strings.ToValidUTF8(value, string(utf8.RuneError))})
		}
	}
	return all
}

// formsOf tells add of what is looked for of a value, and whether only as a word. How
// a form may be escaped is the matter of the views.
func formsOf(value secretValue, add func(form string, asWord bool)) {
	trimmed := strings.TrimSpace(value.text)
	if len(trimmed) < shortMask {
		add(trimmed, true)
		return
	}
	even := strings.Join(strings.FieldsFunc(trimmed, isBlank), " ")
	for _, text := range slices.Compact([]string{value.text, trimmed, even}) {
		add(text, false)
	}
	for _, number := range numberForms(trimmed) {
		add(number, false)
	}
	linesOf(trimmed, value.structured, add)
}

// linesOf adds the lines of a text, which may stand alone, but are not encoded one by
// one. A short one may be any word.
func linesOf(text string, structured bool, add func(form string, asWord bool)) {
	if !strings.ContainsAny(text, "\r\n") {
		return
	}
	shortest := shortMask
	if structured {
		shortest = maskedLine // its parts are known, and the rest are names
	}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); len(line) >= shortest {
			add(line, len(line) < maskedLine)
		}
	}
}
