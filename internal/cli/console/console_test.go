// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestProgressStaysInItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"short":         "⠋ short",
		"0123456789abc": "⠋ 0123456…",
		"漢字漢字漢字":        "⠋ 漢字漢…", // two columns each
	} {
		g := NewWithT(t)
		var out strings.Builder
		New(&out, true, func() int { return 11 }).Progress(text)
		g.Expect(out.String()).To(Equal(clearLine + want))
	}
}
