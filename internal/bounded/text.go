// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bounded

import "strings"

// Sign ends a text that was cut, in place of what is missing.
const Sign = "..."

// Text cuts a text to at most that many bytes, the sign for what is missing included, and never inside a character.
func Text(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(0, most-len(Sign))], "") + Sign
}

// Line puts a text on one line, with single spaces, and cuts it as Text does.
func Line(text string, most int) string {
	return Text(strings.Join(strings.Fields(text), " "), most)
}
