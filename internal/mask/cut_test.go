// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// However a secret is written, wherever its text is cut: what is left of it is masked.
func TestTheBeginningOfASecretIsMaskedWhereATextIsCut(t *testing.T) {
	secret := "Zq7-\"it's\"/ä+😀&<pass>\\\nsecond=line;" + strings.Repeat("and more of it, ", 12)
	m := New([]string{secret})
	for name, encode := range encoders() {
		const before = "the input was: "
		text := before + encode(secret)
		for end := len(before); end < len(text); end++ {
			masked := m.ApplyCut(text[:end])
			// Less than four characters say nothing. What is before them is no part of the secret.
			NewWithT(t).Expect(len(masked)).To(BeNumerically("<", len(before)+28), "%s, %d of %d: %q", name, end, len(text), masked)
		}
	}
}

// The runs of base64 end with their text, or are filled, or broken into lines.
func TestBase64IsMaskedWhereATextIsCut(t *testing.T) {
	secret := strings.Repeat("hunter2/pässwörd?>", 20)
	m := New([]string{secret})
	for name, encode := range encoders() {
		if !strings.Contains(name, "base64") && name != "a header" {
			continue
		}
		text := encode(secret)
		for end := 40; end < len(text); end += 7 {
			NewWithT(t).Expect(m.ApplyCut("is "+text[:end])).To(MatchRegexp(`^is [^*]{0,8}\*\*\*\s*$`), "%s, %d", name, end)
		}
	}
}

func TestLateValuesAreMaskedWhereATextIsCut(t *testing.T) {
	g := NewWithT(t)
	m := New(nil)
	m.Follow(func() []string { return []string{"a-token-of-many-characters"} })
	g.Expect(m.ApplyCut("is a-token-of-many")).To(Equal("is ***"))
	g.Expect(m.Apply("is a-token-of-many")).To(Equal("is a-token-of-many"))
}

// What only looks like a beginning, far from the end, stays.
func TestOnlyTheEndOfATextIsCut(t *testing.T) {
	m := New([]string{"hunter2-and-more-of-it"})
	for text, want := range map[string]string{
		"hunter is not " + strings.Repeat("x", 40): "hunter is not " + strings.Repeat("x", 40),
		"is hunter2-and-":                          "is ***",
		"is hunter2-and-%2":                        "is ***",
		`is hunter2-and-\ud83d`:                    "is ***",
		"is hun":                                   "is hun",
		"":                                         "",
	} {
		NewWithT(t).Expect(m.ApplyCut(text)).To(Equal(want), fmt.Sprintf("%q", text))
	}
}
