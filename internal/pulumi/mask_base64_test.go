// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/base64"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAValueIsMaskedInTheBase64OfALongerText(t *testing.T) {
	const secret = "hunter2/pässwörd?>"
	m := newMasker([]string{secret})
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		for before := range 6 {
			for after := range 4 {
				text := alphabet.EncodeToString([]byte(strings.Repeat("u", before) + secret + strings.Repeat("v", after)))
				masked := m.apply("Basic " + text)
				NewWithT(t).Expect(masked).To(ContainSubstring(maskText), text)
				// No more than a character at each end that is also of what is around it.
				NewWithT(t).Expect(len(masked)).To(BeNumerically("<=", len("Basic ***")+(before+2)/3*4+(after+2)/3*4+2), masked)
			}
		}
	}
	g := NewWithT(t)
	g.Expect(newMasker([]string{"abcd"}).apply("Basic "+base64.StdEncoding.EncodeToString([]byte("xabcdx")))).
		To(Equal("Basic "+base64.StdEncoding.EncodeToString([]byte("xabcdx"))), "so few characters are in any text")
}
