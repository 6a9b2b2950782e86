// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible makes a text from others safe to show in one line: what a terminal would
// interpret, or not show, is escaped.
func visible(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || isUnseen(r) }) {
		return text
	}
	return escaped(text)
}

// escaped is a text in quotes, with all in it escaped that nobody would see.
func escaped(text string) string {
	quoted := strconv.QuoteToGraphic(text)
	if !strings.ContainsFunc(quoted, isUnseen) {
		return quoted
	}
	var seen strings.Builder
	for _, r := range quoted {
		if isUnseen(r) {
			seen.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		seen.WriteRune(r)
	}
	return seen.String()
}

// isUnseen reports whether a character takes part in texts, for Unicode, and is not shown, or as a space: a value that
// has one would look like another one without.
func isUnseen(r rune) bool {
	const blankBraille = '\u2800'
	return r == blankBraille || r > unicode.MaxASCII && unicode.In(r, unicode.Zs, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// textOf is a value in one line.
func textOf(value any) string {
	var text strings.Builder
	write(&text, value)
	return text.String()
}

func write(text *strings.Builder, value any) {
	switch value := value.(type) {
	case nil:
		text.WriteString("null")
	case bool:
		text.WriteString(strconv.FormatBool(value))
	case json.Number:
		text.WriteString(visible(value.String()))
	case string:
		text.WriteString(quoted(value))
	case []any:
		text.WriteString("[")
		for n, inner := range value {
			if n > 0 {
				text.WriteString(", ")
			}
			write(text, inner)
		}
		text.WriteString("]")
	case map[string]any:
		text.WriteString("{")
		for n, name := range slices.Sorted(maps.Keys(value)) {
			if n > 0 {
				text.WriteString(", ")
			}
			text.WriteString(memberName(name) + ": ")
			write(text, value[name])
		}
		text.WriteString("}")
	}
}

// quoted is a text in quotes, unless it stands for what is not shown.
func quoted(text string) string {
	if isSign(text) {
		return text
	}
	return escaped(text)
}

// isSign reports whether a text stands for a value that is not shown, as what makes plans
// writes it.
func isSign(text string) bool {
	return regexp.MustCompile(`^\[(secret|unknown|hidden|not readable|too big to show: \d+ bytes|(asset|archive)( sha256:[0-9a-f]+)?)\]$`).MatchString(text)
}

func memberName(name string) string {
	for _, r := range name {
		if isUnseen(r) || r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return escaped(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// isLong reports whether a text has several lines.
func isLong(text string) bool { return strings.Contains(strings.TrimSuffix(text, "\n"), "\n") }
