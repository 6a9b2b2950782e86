// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text with its escapes taken back, to find in it what each program writes
// in its own way: JSON with or without the escapes of HTML, of all that is not ASCII
// and of slashes, Go's %q, Python's repr, URLs.
type view struct {
	text string
	// at is, for each byte, where it is in the source, and where that ends. Nil is
	// where it is here.
	at []int
}

// source is the part of the source that a part of the view is of.
func (v view) source(from, to int) span {
	if v.at == nil {
		return span{from, to}
	}
	end := to
	for end < len(v.text) && v.at[end] == v.at[to-1] {
		end++ // of several bytes that are one escape
	}
	return span{v.at[from], v.at[end]}
}

// escape reads one escape at the beginning of a text: what it stands for, and its
// length, 0 where there is none.
type escape func(text string) (string, int)

// escapes are those that there are, each with the character it begins with.
func escapes() []struct {
	sign string
	read escape
} {
	return []struct {
		sign string
		read escape
	}{
		{`\`, func(text string) (string, int) { return backslash(text, false) }},
		{`\x`, func(text string) (string, int) { return backslash(text, true) }},
		{"%", func(text string) (string, int) { return percent(text, false) }},
		{"+", func(text string) (string, int) { return percent(text, true) }},
	}
}

// viewsOf are the text itself, and what it is after one escape or two are taken back:
// JSON in JSON, and a password in a URL in JSON. Most texts have no escapes.
func viewsOf(text string) []view {
	views := []view{{text: text}}
	done := 0
	for range 2 {
		level := views[done:]
		done += len(level)
		for _, v := range level {
			for _, kind := range escapes() {
				if !strings.Contains(v.text, kind.sign) {
					continue
				}
				decoded := v.decode(kind.read)
				if !slices.ContainsFunc(views, func(known view) bool { return known.text == decoded.text }) {
					views = append(views, decoded)
				}
			}
		}
	}
	return views
}

// decode takes back all escapes of a kind.
func (v view) decode(read escape) view {
	text := make([]byte, 0, len(v.text))
	at := make([]int, 0, len(v.text)+1)
	for from := 0; from < len(v.text); {
		meant, length := read(v.text[from:])
		if length == 0 {
			meant, length = v.text[from:from+1], 1
		}
		for range len(meant) {
			at = append(at, v.source(from, from+1).from)
		}
		text = append(text, meant...)
		from += length
	}
	end := len(v.text)
	if v.at != nil {
		end = v.at[end]
	}
	return view{text: string(text), at: append(at, end)}
}

// backslash reads the escapes of JSON, Go, Python and their like. Above ASCII \x is
// a byte in Go, and a character in Python.
func backslash(text string, isCharacter bool) (string, int) {
	if len(text) < 2 || text[0] != '\\' {
		return "", 0
	}
	switch text[1] {
	case 'n':
		return "\n", 2
	case 't':
		return "\t", 2
	case 'r':
		return "\r", 2
	case 'b':
		return "\b", 2
	case 'f':
		return "\f", 2
	case 'v':
		return "\v", 2
	case 'a':
		return "\a", 2
	case '\\', '/', '"', '\'', '`':
		return text[1:2], 2
	case 'x':
		code, ok := hex(text[2:], 2)
		switch {
		case !ok:
			return "", 0
		case isCharacter:
			return string(code), 4
		}
		return string([]byte{byte(code)}), 4
	case 'u':
		return character(text)
	case 'U':
		if code, ok := hex(text[2:], 8); ok {
			return string(code), 10
		}
	}
	return "", 0
}

// character reads a \u, or the two that are one character in JSON.
func character(text string) (string, int) {
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

// percent reads the escapes of URLs, where a plus may be a space.
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
