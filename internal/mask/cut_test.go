// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// However a secret is escaped and wherever the text is cut, what is left of the secret is
// masked.
func TestTheBeginningOfASecretIsMaskedWhereATextIsCut(t *testing.T) {
	secret := "Zq7-\"it's\"/ä+😀&<pass>\\\nsecond=line;" + strings.Repeat("and more of it, ", 12)
	m := New([]string{secret})
	for name, encode := range encoders() {
		const before = "the input was: "
		text := before + encode(secret)
		for end := len(before); end < len(text); end++ {
			masked := m.ApplyCut(text[:end])
			// Less than four characters say nothing. Text before the secret is not
			// masked.
			NewWithT(t).Expect(len(masked)).To(BeNumerically("<", len(before)+28), "%s, %d of %d: %q", name, end, len(text), masked)
		}
	}
}

// The same for a text whose beginning is missing.
func TestTheRestOfASecretIsMaskedWhereATextBegins(t *testing.T) {
	secret := "first=line;\nZq7-\"it's\"/ä+😀&<pass>\\\nsecond=line;" + strings.Repeat(" and more of it,", 12) + " pä\"ss"
	m := New([]string{secret})
	for name, encode := range encoders() {
		const after = " was the input"
		text := encode(secret) + after
		for from := range len(text) - len(after) {
			masked := m.ApplyRest(text[from:])
			NewWithT(t).Expect(len(masked)).To(BeNumerically("<", len(after)+28), "%s, %d of %d: %q", name, from, len(text), masked)
		}
	}
}

// Base64 may end with the text, have padding or line breaks.
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
	g.Expect(m.ApplyRest("many-characters it is")).To(Equal("*** it is"))
	g.Expect(m.Apply("is a-token-of-many")).To(Equal("is a-token-of-many"))
	g.Expect(m.Apply("many-characters it is")).To(Equal("many-characters it is"))
}

// What looks like a beginning but is far from the end stays.
func TestApplyCutMasksOnlyAtTheEnd(t *testing.T) {
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

// What looks like an end but is far from the beginning stays.
func TestApplyRestMasksOnlyAtTheBeginning(t *testing.T) {
	m := New([]string{"hunter2-and-more-of-it"})
	for text, want := range map[string]string{
		strings.Repeat("x", 40) + " more-of-it is": strings.Repeat("x", 40) + " more-of-it is",
		"more-of-it is":          "*** is",
		"more-of-one is":         "more-of-one is",
		`00e4more-of-it is`:      "*** is",
		"-it is":                 "-it is",
		"is hunter2-and-":        "is hunter2-and-",
		"hunter2-and-more-of-it": "***",
		"it":                     "it",
		"":                       "",
	} {
		NewWithT(t).Expect(m.ApplyRest(text)).To(Equal(want), fmt.Sprintf("%q", text))
	}
}
