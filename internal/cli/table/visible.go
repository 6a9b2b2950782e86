// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a text of others as a person may be shown it, in one line: what a terminal
// would do something with, or would not show, is written as Go writes it, as \x1b or
// \u202e. All else is as it was.
func Visible(text string) string { return visible(text, joiners) }

// VisibleLines is the same for a text that may have several lines, and tabs.
func VisibleLines(text string) string { return visible(text, joiners+"\n\t") }

// joiners are within words of Persian and others, and within symbols.
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
