// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"strings"
)

const (
	// base64Group is the number of characters after which base64 is back at a byte
	// boundary. A text may begin at any of them, as the characters before it may be
	// base64 characters too.
	base64Group = 4
	// shortestBase64 is the number of characters that shortMask bytes take.
	shortestBase64 = 6

	bitsOfCharacter, bitsOfByte = 6, 8
)

// base64Run holds the positions of the characters of possible base64, and where it ends.
type base64Run struct {
	characters []int32
	end        int
}

// base64Runs finds everything in a text that may be base64, in either alphabet, with or
// without line breaks.
func base64Runs(text string) []base64Run {
	var runs []base64Run
	for at := 0; at < len(text); {
		length := 0
		for at+length < len(text) && base64Bits(text[at+length]) >= 0 {
			length++
		}
		// Most runs are just words.
		if next, more := nextBase64(text, at+length); length < shortestBase64 && !more {
			at = next
			continue
		}
		run := base64Run{characters: make([]int32, 0, length), end: at}
		for next, more := at, length > 0; more; next, more = nextBase64(text, run.end) {
			for run.end = next; run.end < len(text) && base64Bits(text[run.end]) >= 0; run.end++ {
				run.characters = append(run.characters, int32(run.end))
			}
		}
		if len(run.characters) >= shortestBase64 {
			runs = append(runs, run)
		}
		at = max(run.end, at+1)
	}
	return runs
}

// nextBase64 returns where the run continues in the next line, or else where to look for
// another.
func nextBase64(text string, end int) (int, bool) {
	if end == len(text) || text[end] != '\n' && text[end] != '\r' {
		return end + 1, false
	}
	next := len(text) - len(strings.TrimLeft(text[end:], blankBytes))
	return next, next < len(text) && base64Bits(text[next]) >= 0
}

// fromBase64 decodes the runs of a view, each from its character at offset on, separated
// by zero bytes.
func (v view) fromBase64(runs []base64Run, offset int) view {
	decoded := builder{of: v}
	for _, run := range runs {
		if len(run.characters) >= offset+shortestBase64 {
			v.addRun(&decoded, run.characters[offset:], run.end)
		}
	}
	read := decoded.view()
	read.isGuess = true
	return read
}

// addRun adds the bytes that the characters encode. A character shared by two bytes
// counts as source of both, and the padding as source of the last byte.
func (v view) addRun(decoded *builder, run []int32, end int) {
	for end < len(v.text) && v.text[end] == '=' {
		end++
	}
	total := len(run) * bitsOfCharacter / bitsOfByte
	for n := range total {
		first, last := n*bitsOfByte/bitsOfCharacter, (n*bitsOfByte+bitsOfByte-1)/bitsOfCharacter
		both := base64Bits(v.text[run[first]])<<bitsOfCharacter | base64Bits(v.text[run[last]])
		after := 2*bitsOfCharacter - n*bitsOfByte%bitsOfCharacter - bitsOfByte
		to := int(run[last]) + 1
		if n == total-1 {
			to = end
		}
		decoded.add(string([]byte{byte(both >> after)}), int(run[first]), to)
	}
	decoded.add("\x00", int(run[len(run)-1]), end)
}

// base64Bits returns the value of a character of either alphabet, or -1.
func base64Bits(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+', c == '-':
		return 62
	case c == '/', c == '_':
		return 63
	}
	return -1
}

// base64Forms returns a value in base64. Where Pulumi replaces part of the encoded text,
// the text cannot be decoded any more and has to be looked for as it is.
func base64Forms(value string) []string {
	return []string{
		base64.RawStdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
}
