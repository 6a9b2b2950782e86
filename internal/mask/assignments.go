// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"slices"
	"strings"
)

const (
	// maxQuoted bounds a value in quotation marks or of many lines, and maxBare any other.
	// Of one that is longer that is what is looked for.
	maxQuoted = 64 << 10
	maxBare   = 8 << 10
	maxName   = 128
)

// assignments reads a text for all that looks like a name and its value, in whatever
// language it is: the lines of a file of variables, what says how to connect to a
// database, the source of a program. Where a value ends is not the same in all of
// them, so that each end that it may have makes one.
type assignments struct {
	// named is what the name says in what has the fields name and value.
	named meaning
	// section is what the last heading in brackets says, and secretTo where the list or
	// object ends whose name is that of a secret.
	section  meaning
	secretTo int
	found    []member
}

// assignmentsIn lists the values in a text such as NAME=value.
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

// readHeadings reads the lines between two pairs, of which the first is the rest of one.
func (a *assignments) readHeadings(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			a.section = meaningOf(line)
		}
	}
}

// pair is a name and where it and its value begin.
type pair struct {
	name        string
	from, value int
	// isEqual says that there is no more than an equals sign between them.
	isEqual bool
}

// nextPair finds the next one in a text from a place on.
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
	_, ok := nextPair(strings.TrimRight(text, "="), 0) // the filling of base64 is none
	return ok
}

// nameBefore is the name that a text ends with, and where it begins. It may be in
// quotation marks, in brackets, and of two words, as User ID.
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

// isLead tells whether only a name can follow in a line.
func isLead(text string) bool {
	text = strings.Trim(text, " \t\"'-")
	return text == "" || text == "export" || text == "set" || text == "ENV"
}

// read reads the value that a text begins with, and is how much of that nothing else
// can be in. In what is no secret by its name may be pairs again.
func (a *assignments) read(of pair, text string, isFirst bool) int {
	says := meaningOf(of.name)
	if a.named != namesNothing && isValueName(of.name) {
		says = a.named
	}
	if says == namesNothing && (of.from < a.secretTo || a.section == namesSecret) {
		says = namesSecret
	}
	values, length := valuesAt(text, isFirst, of.isEqual)
	if inner, end := listed(text[:min(len(text), maxBare)]); says == namesSecret && end > 0 {
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
		// Of the parts of a value that has some, each has a name of its own.
		if (says != namesSecret || n > 0) && !(isFirst && n == len(values)-1) && hasPair(value) {
			continue
		}
		for _, read := range readings(value) {
			a.found = append(a.found, member{says, read})
		}
	}
	if says == namesSecret {
		return length
	}
	return 0
}

// valuesAt lists the values that a text may begin with, and the length of the shortest.
// A word behind a colon that goes on in its line is prose, or the name of something in
// the source of a program.
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
		values = append(values, inner) // of ODBC
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

// quoted reads a value in quotation marks, which may be escaped themselves. A backslash
// before one, and two of them, are a part of the value in some languages.
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

// heredoc reads the lines after <<WORD until that word.
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

// block reads the lines of a block of YAML, which are indented.
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

// listed lists the texts in quotation marks in a list or an object, which are not its
// names, and finds its end.
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

// isItem tells whether what is between two texts is an item of a list: it has no name,
// and is none.
func isItem(before, after string) bool {
	before, after = strings.TrimRight(before, " \t\r\n"), strings.TrimLeft(after, " \t\r\n")
	return strings.IndexByte("[{(,", before[len(before)-1]) >= 0 && after != "" && strings.IndexByte("]}),", after[0]) >= 0
}

func isBlockHead(head string) bool {
	head = strings.TrimRight(head, " \t\r")
	return head != "" && (head[0] == '|' || head[0] == '>') && strings.Trim(head[1:], "+-123456789") == ""
}

// readings are a value as it is written, and what it is once its escapes are taken back.
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
