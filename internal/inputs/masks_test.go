// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestMasks(t *testing.T) {
	for name, tt := range map[string]struct{ values, want []string }{
		"nothing gives none":                       {nil, []string{}},
		"empty and blank values give no empty one": {[]string{"", " \n"}, []string{" \n"}},
		"each value once":                          {[]string{"secret", "secret", "other"}, []string{"secret", "other"}},
		"the longest first, so that none is cut by its own part": {
			[]string{"key", "key-and-more", "key-and"}, []string{"key-and-more", "key-and", "key"}},
		"with and without the newline at the end": {[]string{"secret\n"}, []string{"secret\n", "secret"}},
		"as JSON writes it":                       {[]string{`a"b<c`}, []string{`a\"b<c`, `a"b<c`}},
		"each line of a key file, but for its braces": {
			[]string{"{\r\n  \"private\": \"abc\"\r\n}\n"},
			[]string{"{\\r\\n  \\\"private\\\": \\\"abc\\\"\\r\\n}", "{\r\n  \"private\": \"abc\"\r\n}\n", "{\r\n  \"private\": \"abc\"\r\n}",
				"\"private\": \"abc\""}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(masksOf(tt.values)).To(Equal(tt.want))
		})
	}
}
