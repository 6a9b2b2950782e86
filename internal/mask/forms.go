// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"regexp"
	"slices"
	"strings"
)

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
		add(text, value.asWord)
	}
	for _, number := range numberForms(trimmed) {
		add(number, value.asWord)
	}
	if !value.structured {
		linesOf(trimmed, add)
	}
}

// linesOf adds the lines of a text, which may stand alone. A short one may be any
// word. Those of a structured value are names for the most part, and so is what a part
// of a file of settings begins with.
func linesOf(text string, add func(form string, asWord bool)) {
	if !strings.ContainsAny(text, "\r\n") {
		return
	}
	heading := regexp.MustCompile(`^(?:\[{1,2}[\w."' -]+\]{1,2}|[\w."'-]+ *[:=]? *[{\[(])$`)
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); len(line) >= shortMask && (!strings.ContainsAny(line[len(line)-1:], "]{[(") || !heading.MatchString(line)) {
			add(line, len(line) < maskedLine)
		}
	}
}
