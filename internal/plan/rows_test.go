// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

// An output, and a property of any type, may become a value of another kind.
func TestAValueThatBecomesOneOfAnotherKindIsShown(t *testing.T) {
	shown := map[string]string{
		`null`:         `null`,
		`true`:         `true`,
		`5`:            `5`,
		`"x"`:          `"x"`,
		`"a\nb\nc"`:    `"a\nb\nc"`,
		`["a",1]`:      `["a", 1]`,
		`{"a":1}`:      `{a: 1}`,
		`"[unknown]"`:  `[unknown]`,
		`"[secret]"`:   `[secret]`,
		`{"b":"a\nb"}`: `{b: "a\nb"}`,
	}
	for before, old := range shown {
		for after, now := range shown {
			change := Change{Old: json.RawMessage(before), New: json.RawMessage(after)}
			p := Plan{
				Steps:   []Step{{Op: OpUpdate, URN: urnOf("a"), Type: "t", Properties: []Property{{Path: "p", Kind: KindUpdate, Change: change}}}},
				Outputs: []Output{{Name: "o", Change: change}},
			}
			text := Terminal(p, 0, nil)
			g := NewWithT(t)
			g.Expect(Markdown(p, 1<<20)).To(ContainSubstring("p:"))
			if (before[0] == '{' && after[0] == '{') || (before[0] == '"' && after[0] == '"') {
				continue // of the same kind, of which only what differs is shown
			}
			g.Expect(text).To(ContainSubstring("~ p: " + old + " => " + now + "\n"))
			g.Expect(text).To(ContainSubstring("~ o: " + old + " => " + now + "\n"))
		}
	}
}
