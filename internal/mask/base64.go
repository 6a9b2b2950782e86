// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"strings"
)

const (
	// base64Group is how many characters begin at a whole byte again. A text may
	// begin at any of them: what is before it can be of the same characters.
	base64Group = 4
	// shortestBase64 is how many characters a value of shortMask bytes has.
	shortestBase64 = 6

	bitsOfCharacter, bitsOfByte = 6, 8
)

// fromBase64 reads all in the view that may be base64, with either alphabet, and
// broken into lines or not, each from its character at an offset on. A zero byte is
// between two.
func (v view) fromBase64(offset int) view {
	decoded := builder{of: v}
	for at := 0; at < len(v.text); {
		if base64Bits(v.text[at]) < 0 {
			at++
			continue
		}
		var run []int
		run, at = base64Run(v.text, at)
		if len(run) < offset+shortestBase64 {
			continue
		}
		v.addRun(&decoded, run[offset:], at)
	}
	read := decoded.view()
	read.isGuess = true
	return read
}

// base64Run lists where the characters are that begin at a place, and where they end.
func base64Run(text string, at int) ([]int, int) {
	var run []int
	for at < len(text) {
		if base64Bits(text[at]) >= 0 {
			run = append(run, at)
			at++
			continue
		}
		if text[at] != '\n' && text[at] != '\r' {
			break
		}
		next := len(text) - len(strings.TrimLeft(text[at:], blankBytes))
		if next == len(text) || base64Bits(text[next]) < 0 {
			break
		}
		at = next
	}
	return run, at
}

// addRun adds the bytes that the characters stand for. A character that is a part of
// two bytes belongs to both, and what fills the last group to the last byte.
func (v view) addRun(decoded *builder, run []int, end int) {
	for end < len(v.text) && v.text[end] == '=' {
		end++
	}
	total := len(run) * bitsOfCharacter / bitsOfByte
	for n := range total {
		first, last := n*bitsOfByte/bitsOfCharacter, (n*bitsOfByte+bitsOfByte-1)/bitsOfCharacter
		both := base64Bits(v.text[run[first]])<<bitsOfCharacter | base64Bits(v.text[run[last]])
		after := 2*bitsOfCharacter - n*bitsOfByte%bitsOfCharacter - bitsOfByte
		to := run[last] + 1
		if n == total-1 {
			to = end
		}
		decoded.add(string([]byte{byte(both >> after)}), run[first], to)
	}
	decoded.add("\x00", run[len(run)-1], end)
}

// base64Bits is what a character of either alphabet stands for, and -1 for any other.
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

// base64Forms are a value in base64, for what Pulumi may replace in it, which cannot be
// read back.
func base64Forms(value string) []string {
	return []string{
		base64.RawStdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
}
