// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestVisibleEscapesControlCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"zażółć 漢字 🙂 a b":        "zażółć 漢字 🙂 a b",
		"می\u200cخواهم 👩\u200d💻": "می\u200cخواهم 👩\u200d💻",
		`C:\a "quoted"`:          `C:\a "quoted"`,
		"\x1b[31mred":            `\x1b[31mred`,
		"\x1b]0;title\a":         `\x1b]0;title\a`,
		"a\u009bb\u202ec":        `a\u009bb\u202ec`,
		"one\ntwo\tthree\r":      `one\ntwo\tthree\r`,
		"del\x7f bom\ufeff":      `del\x7f bom\ufeff`,
		"no text\xff at all":     `no text\xff at all`,
		"\ufffd":                 "\ufffd",
		"":                       "",
	} {
		NewWithT(t).Expect(Visible(text)).To(Equal(want))
	}
	NewWithT(t).Expect(VisibleLines("one\n\ttwo\x1b\r\n")).To(Equal("one\n\ttwo\\x1b\\r\n"))
}

func TestATableHasALineForEachRow(t *testing.T) {
	var out strings.Builder
	Print(&out, []string{"Name"}, [][]string{{"one\ntwo"}, {"\x1b[31mred"}})
	NewWithT(t).Expect(strings.Split(out.String(), "\n")).To(HaveLen(4), out.String())
	NewWithT(t).Expect(out.String()).NotTo(ContainSubstring("\x1b"))
}
