// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

func TestOutputsAreOneLineWithoutTerminalEscapes(t *testing.T) {
	for value, want := range map[string]string{
		`"https://example.com"`:  "https://example.com",
		`"zażółć"`:               "zażółć",
		`[80, 443]`:              "[80,443]",
		`"two\nlines"`:           `"two\nlines"`,
		"\"a\u202eb\"":           "\"a\u202eb\"", // the table then shows it in quotes
		"{\n  \"a\": 1\n}":       `{"a":1}`,
		`"\u001b[2J\u001b[31mx"`: `"\u001b[2J\u001b[31mx"`,
	} {
		NewWithT(t).Expect(Output(json.RawMessage(value))).To(Equal(want))
	}
}
