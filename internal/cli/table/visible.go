// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes a text from others safe to show in one line. Characters that a terminal
// would interpret, or not show, are escaped as in Go: \x1b or \u202e. All others are
// unchanged.
func Visible(text string) string { return visible(text, joiners) }

// VisibleLines is Visible for a text with several lines, and tabs.
func VisibleLines(text string) string { return visible(text, joiners+"\n\t") }

// joiners occur within words of Persian and other languages, and within symbols.
const joiners = "\u200c\u200d"

func visible(text, kept string) string {
	isShown := func(r rune) bool { return unicode.IsGraphic(r) || strings.ContainsRune(kept, r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !isShown(r) }) {
		return text
	}
	var shown strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if isShown(r) && (r != utf8.RuneError || size > 1) {
			shown.WriteString(text[:size])
		} else {
			quoted := strconv.QuoteToASCII(text[:size])
			shown.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return shown.String()
}
