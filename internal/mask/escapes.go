// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is a way of escaping a text within another one, given by how to undo it.
type encoding struct {
	// sign occurs in every text that is escaped this way. starts are the characters that
	// an escape can begin with.
	sign, starts string
	escape       escape
}

// escape decodes the escape at the beginning of a text and returns what it stands for and
// its length, or 0 if there is none.
type escape func(text string) (string, int)

// encodings lists all ways of escaping except base64. Where programs disagree on what an
// escape means, each reading is an encoding of its own.
func encodings() []encoding {
	return []encoding{
		{`\`, `\`, func(text string) (string, int) { return backslash(text, false) }},
		{`\`, `\`, func(text string) (string, int) { return backslash(text, true) }},
		{"%", "%", func(text string) (string, int) { return percent(text, false) }},
		{"+", "+%", func(text string) (string, int) { return percent(text, true) }},
		{"&", "&", entity},
		{"''", "'", func(text string) (string, int) { return oneOf(text, "''") }},
		{`""`, `"`, func(text string) (string, int) { return oneOf(text, `""`) }},
		{"'", "'", func(text string) (string, int) { return oneOf(text, `'\''`, `'"'"'`) }},
	}
}

// oneOf reads an escaped quotation mark: SQL, YAML and CSV double it, and shells end the
// string before it and begin another after it.
func oneOf(text string, written ...string) (string, int) {
	for _, quotes := range written {
		if strings.HasPrefix(text, quotes) {
			return quotes[:1], len(quotes)
		}
	}
	return "", 0
}

// entity reads an HTML or XML entity. The longest names have 31 characters.
func entity(text string) (string, int) {
	end := strings.IndexByte(text[:min(len(text), len("&;")+31)], ';')
	if end < 0 {
		return "", 0
	}
	isNone := func(r rune) bool {
		return r != '#' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}
	written := text[:end+1]
	meant := html.UnescapeString(written)
	if strings.ContainsFunc(text[1:end], isNone) || meant == written {
		return "", 0
	}
	return meant, len(written)
}

// backslash reads the escapes of JSON, Go, C, shells, databases and the like. In these,
// \x above ASCII is a byte. In Python, JavaScript and YAML, which have more escapes, it
// is a character (isCharacter).
func backslash(text string, isCharacter bool) (string, int) {
	if len(text) < 2 || text[0] != '\\' {
		return "", 0
	}
	const names, meant = "ntrbfvaeEZ", "\n\t\r\b\f\v\a\x1b\x1b\x1a"
	sign := text[1]
	if n := strings.IndexByte(names, sign); n >= 0 {
		return meant[n : n+1], 2
	}
	switch {
	case sign == 'x':
		code, ok := hex(text[2:], 2)
		switch {
		case !ok:
			return "", 0
		case isCharacter:
			return string(code), 4
		}
		return string([]byte{byte(code)}), 4
	case sign == 'u':
		return character(text)
	case sign == 'U':
		if code, ok := hex(text[2:], 8); ok {
			return string(code), 10
		}
		return "", 0
	case sign == '\n': // line continuation
		return "", len(text) - len(strings.TrimLeft(text[2:], " \t"))
	case isCharacter:
		for n, name := range "_NLP0" {
			if rune(sign) == name {
				return []string{"\u00a0", "\u0085", "\u2028", "\u2029", "\x00"}[n], 2
			}
		}
	case '0' <= sign && sign <= '7':
		return octal(text)
	}
	if sign == '\t' || sign >= ' ' && sign < utf8.RuneSelf && !isLetterOrDigit(sign) {
		return text[1:2], 2
	}
	return "", 0
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// octal reads a backslash and up to three octal digits.
func octal(text string) (string, int) {
	end := 1
	for end < len(text) && end < 4 && '0' <= text[end] && text[end] <= '7' {
		end++
	}
	code, err := strconv.ParseUint(text[1:end], 8, 8)
	if err != nil {
		return "", 0
	}
	return string([]byte{byte(code)}), end
}

// character reads \uXXXX, a surrogate pair of two of them as in JSON, or \u{X}.
func character(text string) (string, int) {
	if rest, ok := strings.CutPrefix(text[2:], "{"); ok {
		digits, _, closed := strings.Cut(rest[:min(len(rest), 9)], "}")
		code, ok := hex(digits, len(digits))
		if !ok || !closed {
			return "", 0
		}
		return string(code), len(`\u{}`) + len(digits)
	}
	code, ok := hex(text[2:], 4)
	if !ok {
		return "", 0
	}
	if rest, two := strings.CutPrefix(text[6:], `\u`); two {
		if low, ok := hex(rest, 4); ok {
			if both := utf16.DecodeRune(code, low); both != utf8.RuneError {
				return string(both), 12
			}
		}
	}
	return string(code), 6
}

// percent reads the escapes of URLs, where a plus may stand for a space.
func percent(text string, plusIsSpace bool) (string, int) {
	switch text[0] {
	case '+':
		if plusIsSpace {
			return " ", 1
		}
	case '%':
		if code, ok := hex(text[1:], 2); ok {
			return string([]byte{byte(code)}), 3
		}
	}
	return "", 0
}

func hex(text string, digits int) (rune, bool) {
	if len(text) < digits {
		return 0, false
	}
	code, err := strconv.ParseUint(text[:digits], 16, 32)
	return rune(code), err == nil
}

// blanks reads any run of blanks and line breaks as one blank, because programs fold long
// lines, indent, and use different line endings.
func blanks(text string) (string, int) {
	length := 0
	for length < len(text) && isBlank(rune(text[length])) {
		length++
	}
	if length == 1 && text[0] == ' ' {
		return "", 0
	}
	return " ", length
}

const blankBytes = " \t\r\n"

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }
