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
		"empty and blank values give no empty one": {[]string{"", " \n"}, []string{}},
		"each value once":                          {[]string{"secret", "secret", "other"}, []string{"secret", "other"}},
		"the longest first, so that no part of a value hides it": {
			[]string{"key", "key-and-more", "key-and"}, []string{"key-and-more", "key-and", "key"}},
		"as they are, whatever is in them": {[]string{"secret\n", "{\n \"private\": \"abc\"\n}\n"}, []string{"{\n \"private\": \"abc\"\n}\n", "secret\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(masksOf(tt.values)).To(Equal(tt.want))
		})
	}
}
