// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"regexp"
	"slices"
	"strings"
)

// formsOf calls add with each form of a value to look for, and whether to match it only
// as a whole word. Escaping is handled by the views.
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

// linesOf adds the lines of a text, as each may be printed alone. Short lines match only
// as whole words, and section headings, such as [default], are skipped. The lines of
// structured values are mostly names, so formsOf leaves them out.
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
