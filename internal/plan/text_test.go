// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

// TestWhatNobodyWouldSeeIsEscaped: a reviewer could not tell the value from another one.
func TestWhatNobodyWouldSeeIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"prod":       `"prod"`,
		"größer, 漢字": `"größer, 漢字"`,
		"prod\ufe0f": `"prod\ufe0f"`,
		"a\u00a0b":   `"a\u00a0b"`,
		"a\u034fb":   `"a\u034fb"`,
		"\u3164":     `"\u3164"`,
		"\u2800":     `"\u2800"`,
		"\U000e0100": `"\U000e0100"`,
		"a\u202eb":   `"a\u202eb"`,
	} {
		t.Run(want, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := json.Marshal(text)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(Change{Old: json.RawMessage(`"prod"`), New: raw}.rows("p", KindUpdate)[0].text).To(Equal(`p: "prod" => ` + want))
			if want != `"`+text+`"` {
				g.Expect(visible(text)).To(Equal(want), "in a name")
				g.Expect(textOf(map[string]any{text: true})).To(Equal("{"+want+": true}"), "in the name of a member")
			}
		})
	}
}
