// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/base64"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAValueIsMaskedInTheBase64OfALongerText(t *testing.T) {
	const secret = "hunter2/pässwörd?>"
	m := New([]string{secret})
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		for before := range 6 {
			for after := range 4 {
				text := alphabet.EncodeToString([]byte(strings.Repeat("u", before) + secret + strings.Repeat("v", after)))
				masked := m.Apply("Basic " + text)
				NewWithT(t).Expect(masked).To(ContainSubstring(MaskText), text)
				// At either end, at most one character shared with the surrounding text
				// may be left.
				NewWithT(t).Expect(len(masked)).To(BeNumerically("<=", len("Basic ***")+(before+2)/3*4+(after+2)/3*4+2), masked)
			}
		}
	}
	g := NewWithT(t)
	within := func(secret string) string { return base64.StdEncoding.EncodeToString([]byte("x:" + secret + ":x")) }
	g.Expect(New([]string{"abcd"}).Apply("Basic " + within("abcd"))).To(MatchRegexp(`^Basic ..\*\*\*[^*]{3,4}$`))
	g.Expect(New([]string{"abc"}).Apply("Basic "+within("abc"))).To(Equal("Basic "+within("abc")), "so few bytes are in anything")
}

// Keys and certificates are printed as stored: with line breaks.
func TestAValueIsMaskedInBase64OfManyLines(t *testing.T) {
	secret := strings.Repeat("hunter2/pässwörd?>", 12)
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, width := range []int{64, 76, 10} {
		for _, end := range []string{"\n", "\r\n", "\n    ", `\n`} {
			text := "data: " + strings.Join(chunks(encoded, width), end) + "\nend"
			NewWithT(t).Expect(New([]string{secret}).Apply(text)).To(Equal("data: ***\nend"), "%d %q", width, end)
		}
	}
}

func chunks(text string, width int) []string {
	var all []string
	for ; len(text) > width; text = text[width:] {
		all = append(all, text[:width])
	}
	return append(all, text)
}
