// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"slices"
	"strings"
)

const (
	// maxQuoted bounds quoted and multi-line values, maxBare all others. Only that much
	// of a longer value is looked for.
	maxQuoted = 64 << 10
	maxBare   = 8 << 10
	maxName   = 128
)

// assignments collects everything in a text that looks like a name and its value,
// whatever the language: lines of an env file, a database connection string, the source
// of a program. Languages disagree on where a value ends, so each possible end yields a
// value.
type assignments struct {
	// named is the meaning of the last name field, for objects with the fields name and
	// value.
	named meaning
	// section is the meaning of the last heading in brackets. secretTo is the end of the
	// list or object that has a secret name.
	section  meaning
	secretTo int
	found    []member
}

// assignmentsIn lists the values of assignments, such as NAME=value, in a text.
func assignmentsIn(text string) []member {
	if len(text) > maxStructure {
		return nil
	}
	var a assignments
	line := 0
	for at := 0; ; {
		found, ok := nextPair(text, at)
		if !ok {
			return a.found
		}
		if end := strings.LastIndexByte(text[at:found.from], '\n'); end >= 0 {
			line = at + end + 1
			a.readHeadings(text[at:line])
		}
		at = found.value + a.read(found, text[found.value:], isLead(text[line:found.from]))
	}
}

// readHeadings reads the lines between two pairs. The first is the rest of the previous
// pair's line.
func (a *assignments) readHeadings(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			a.section = meaningOf(line)
		}
	}
}

// pair is a name, where it begins and where its value begins.
type pair struct {
	name        string
	from, value int
	// isEqual says that the separator is a single equals sign.
	isEqual bool
}

// nextPair finds the next pair at or after a position.
func nextPair(text string, at int) (pair, bool) {
	for next := at; ; {
		sign := strings.IndexAny(text[next:], "=:")
		if sign < 0 {
			return pair{}, false
		}
		sign += next
		next = sign + 1
		if strings.HasPrefix(text[sign:], "://") {
			continue
		}
		for next < len(text) && strings.IndexByte("=:>", text[next]) >= 0 {
			next++
		}
		if name, from := nameBefore(text[at:sign]); name != "" {
			value := next + len(text[next:]) - len(strings.TrimLeft(text[next:], " \t"))
			return pair{name, at + from, value, text[sign] == '=' && next == sign+1}, true
		}
		at = next
	}
}

func hasPair(text string) bool {
	_, ok := nextPair(strings.TrimRight(text, "="), 0) // base64 padding is not an assignment
	return ok
}

// nameBefore returns the name that a text ends with and where it begins. The name may be
// in quotation marks or brackets and may have two words, as in User ID.
func nameBefore(text string) (string, int) {
	end := strings.TrimSuffix(strings.TrimRight(text[max(0, len(text)-maxName):], " \t"), "]")
	if end != "" && strings.IndexByte("\"'`", end[len(end)-1]) >= 0 {
		end = strings.TrimRight(end[:len(end)-1], `\`)
	}
	last := lastWord(end)
	name := last
	if head, ok := strings.CutSuffix(end[:len(end)-len(last)], " "); ok && last != "" && isWordOnly(last) {
		if first := lastWord(head); first != "" {
			name = first + " " + last
		}
	}
	name = strings.TrimLeft(name, "0123456789.- ")
	return name, max(0, len(text)-maxName) + len(end) - len(name)
}

func lastWord(text string) string {
	start := len(text)
	for start > 0 && (isLetterOrDigit(text[start-1]) || strings.IndexByte("_.-", text[start-1]) >= 0) {
		start--
	}
	return text[start:]
}

// isLead tells whether the beginning of a line can only be followed by a name.
func isLead(text string) bool {
	text = strings.Trim(text, " \t\"'-")
	return text == "" || text == "export" || text == "set" || text == "ENV"
}

// read reads the value at the beginning of a text and returns how far the search for more
// pairs may skip. It skips secret values only: any other value may contain pairs itself.
func (a *assignments) read(of pair, text string, isFirst bool) int {
	means := meaningOf(of.name)
	if a.named != namesNothing && isValueName(of.name) {
		means = a.named
	}
	if means == namesNothing && (of.from < a.secretTo || a.section == namesSecret) {
		means = namesSecret
	}
	values, length := valuesAt(text, isFirst, of.isEqual)
	if inner, end := listed(text[:min(len(text), maxBare)]); means == namesSecret && end > 0 {
		a.secretTo = max(a.secretTo, of.value+end)
		values, length = append(values, inner...), 0
	}
	if isNaming(of.name) && len(values) > 0 {
		a.named = meaningOf(values[0])
	}
	for n, value := range values {
		if len(value) < shortMask || slices.Contains(values[:n], value) {
			continue
		}
		// A value that contains pairs is not one secret: each of its parts is read by its
		// own name.
		if (means != namesSecret || n > 0) && !(isFirst && n == len(values)-1) && hasPair(value) {
			continue
		}
		for _, read := range readings(value) {
			a.found = append(a.found, member{means, read})
		}
	}
	if means == namesSecret {
		return length
	}
	return 0
}

// valuesAt lists the values that a text may begin with and returns the length of the
// shortest. A word after a colon, with more text on its line, is prose or an identifier
// in source code, not a value.
func valuesAt(text string, isFirst, isEqual bool) ([]string, int) {
	for _, inMarks := range []func(string) ([]string, int){quoted, heredoc, block} {
		if values, length := inMarks(text[:min(len(text), maxQuoted)]); length > 0 {
			return values, length
		}
	}
	line := strings.TrimRight(before(text[:min(len(text), maxBare)], "\n"), " \t\r")
	word := before(line, " \t;")
	shortest := before(word, ",&")
	var values []string
	if isEqual || line == shortest || !isWordOnly(shortest) {
		values = []string{shortest, before(word, ","), before(word, "&"), word}
	}
	for _, value := range values {
		values = append(values, strings.TrimRight(value, "\"'`)]},>"))
	}
	if inner, _, closed := strings.Cut(strings.TrimPrefix(line, "{"), "}"); closed && line[0] == '{' {
		values = append(values, inner) // ODBC
	}
	if isFirst {
		values = append(values, line)
	}
	return values, len(shortest)
}

func before(text, ends string) string {
	if end := strings.IndexAny(text, ends); end >= 0 {
		return text[:end]
	}
	return text
}

// quoted reads a value in quotation marks, which may themselves be escaped. In some
// languages a backslash before a quotation mark, or a doubled quotation mark, is part of
// the value.
func quoted(text string) ([]string, int) {
	for _, mark := range []string{`"""`, "'''"} {
		if inner, _, closed := strings.Cut(strings.TrimPrefix(text, mark), mark); closed && strings.HasPrefix(text, mark) {
			return []string{strings.TrimPrefix(inner, "\n")}, len(inner) + 2*len(mark)
		}
	}
	bare := strings.TrimLeft(text, `\`)
	if bare == "" || !strings.ContainsRune("\"'`", rune(bare[0])) {
		return nil, 0
	}
	mark := text[:len(text)-len(bare)+1]
	first, _, closed := strings.Cut(text[len(mark):], mark)
	if !closed {
		return nil, 0
	}
	values := []string{first}
	if len(mark) > 1 {
		return values, len(first) + 2*len(mark)
	}
	for at := 1; at < len(text); at++ {
		switch {
		case text[at] == '\\':
			at++
		case text[at] == mark[0] && at+1 < len(text) && text[at+1] == mark[0]:
			at++
		case text[at] == mark[0]:
			return append(values, text[1:at]), len(first) + 2
		}
	}
	return values, len(first) + 2
}

// heredoc reads the lines from <<WORD to WORD.
func heredoc(text string) ([]string, int) {
	rest, isOne := strings.CutPrefix(text, "<<")
	word, rest, more := strings.Cut(rest, "\n")
	word = strings.Trim(word, " \t\r-~\"'")
	if !isOne || !more || word == "" {
		return nil, 0
	}
	start := len(text) - len(rest)
	const tries = 100
	for at, n := 0, 0; n < tries; n++ {
		next := strings.Index(rest[at:], word)
		if next < 0 {
			break
		}
		at += next + len(word)
		line := strings.LastIndexByte(rest[:at], '\n') + 1
		if strings.TrimSpace(before(rest[line:], "\n")) == word {
			return []string{rest[:line]}, start + line
		}
	}
	return nil, 0
}

// block reads the indented lines of a YAML block scalar.
func block(text string) ([]string, int) {
	head, rest, more := strings.Cut(text[:min(len(text), maxBare)], "\n")
	if !more || !isBlockHead(head) {
		return nil, 0
	}
	start, at := len(head)+1, 0
	indent := rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))]
	var lines []string
	for indent != "" && at < len(rest) {
		line, _, _ := strings.Cut(rest[at:], "\n")
		inner, isOne := strings.CutPrefix(line, indent)
		if !isOne && strings.TrimSpace(line) != "" {
			break
		}
		lines = append(lines, inner)
		at = min(at+len(line)+1, len(rest))
	}
	return []string{strings.Join(lines, "\n")}, start + at
}

// listed returns the quoted texts of a list or an object, without the names of its
// fields, and where it ends.
func listed(text string) ([]string, int) {
	if text == "" || strings.IndexByte("[{(", text[0]) < 0 {
		return nil, 0
	}
	var inner []string
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			if depth--; depth == 0 {
				return inner, at + 1
			}
		case '"', '\'':
			values, length := quoted(text[at:])
			if length == 0 {
				return nil, 0
			}
			if isItem(text[:at], text[at+length:]) {
				inner = append(inner, values...)
			}
			at += length - 1
		}
	}
	return nil, 0
}

// isItem tells, from what surrounds a text, whether it is an item of a list: neither the
// name nor the value of a field.
func isItem(before, after string) bool {
	before, after = strings.TrimRight(before, " \t\r\n"), strings.TrimLeft(after, " \t\r\n")
	return strings.IndexByte("[{(,", before[len(before)-1]) >= 0 && after != "" && strings.IndexByte("]}),", after[0]) >= 0
}

func isBlockHead(head string) bool {
	head = strings.TrimRight(head, " \t\r")
	return head != "" && (head[0] == '|' || head[0] == '>') && strings.Trim(head[1:], "+-123456789") == ""
}

// readings returns a value as written, and decoded in each way that its escapes allow.
func readings(value string) []string {
	all := []string{value}
	if !strings.ContainsAny(value, `\%&'"`) {
		return all
	}
	for _, w := range writings() {
		if w.sign == "+" || w.sign == "'" || !strings.Contains(value, w.sign) {
			continue
		}
		all = append(all, view{text: value}.decode(w.starts, w.escape).text)
	}
	return all
}
