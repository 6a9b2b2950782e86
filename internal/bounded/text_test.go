// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	. "github.com/onsi/gomega"
)

func TestText(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Text("short", 5)).To(Equal("short"))
	g.Expect(Text("longer", 5)).To(Equal("lo..."))
	g.Expect(Text(strings.Repeat("ä", 100), 10)).To(Equal("äää..."))
	g.Expect(Text("text", 0)).To(Equal("..."), "a text that is cut never looks whole")
}

func TestLine(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Line(" one\n\ttwo  three\r\n", 100)).To(Equal("one two three"))
	g.Expect(Line("one\ntwo\nthree", 10)).To(Equal("one two..."))
}

func TestTextIsBoundedAndValid(t *testing.T) {
	holds := func(text string, most uint8) bool {
		limit := int(most) + len(Sign)
		cut := Text(text, limit)
		return len(cut) <= limit && utf8.ValidString(cut) && strings.HasPrefix(text, strings.TrimSuffix(cut, Sign))
	}
	NewWithT(t).Expect(quick.Check(holds, nil)).To(Succeed())
}
