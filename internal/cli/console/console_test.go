// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	. "github.com/onsi/gomega"
)

func TestProgressStaysInItsLine(t *testing.T) {
	locale := runewidth.DefaultCondition.EastAsianWidth
	t.Cleanup(func() { runewidth.DefaultCondition.EastAsianWidth = locale })
	for _, test := range []struct {
		eastAsian  bool
		text, want string
	}{
		{false, "short", "⠋ short"},
		{false, "0123456789abc", "⠋ 0123456…"},
		{false, "漢字漢字漢字", "⠋ 漢字漢…"},          // two columns each
		{true, "0123456789abc", "⠋ 012345…"}, // a terminal may take two columns for …
	} {
		g := NewWithT(t)
		runewidth.DefaultCondition.EastAsianWidth = test.eastAsian
		var out strings.Builder
		New(&out, true, func() int { return 11 }).Progress(test.text)
		g.Expect(out.String()).To(Equal(clearLine + test.want))
	}
}
