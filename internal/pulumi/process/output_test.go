// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAnOutputKeepsItsTwoEndsAndLittleDisk(t *testing.T) {
	g := NewWithT(t)
	o, err := newOutput(filepath.Join(t.TempDir(), "stdout"))
	g.Expect(err).NotTo(HaveOccurred())
	defer o.close()
	g.Expect(o.printed().Text).To(BeEmpty())

	line := strings.Repeat("x", 99) + "\n"
	_, err = o.file.WriteString("the beginning\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.printed().Text).To(Equal("the beginning\n"))
	for range 40 {
		_, err := o.file.WriteString(strings.Repeat(line, 10_000))
		g.Expect(err).NotTo(HaveOccurred())
		o.shrink()
	}
	_, err = o.file.WriteString("the end\n")
	g.Expect(err).NotTo(HaveOccurred())

	text := o.printed().Text
	g.Expect(len(text)).To(BeNumerically("<", 3*KeptBytes))
	g.Expect(text).To(And(HavePrefix("the beginning\n"), HaveSuffix("the end\n"), ContainSubstring("bytes are left out")))
	for kept := range strings.Lines(text) {
		g.Expect(kept == line || strings.HasPrefix(kept, "the ") || strings.HasPrefix(kept, "[...")).To(BeTrue(), kept)
	}
	info, err := o.file.Stat()
	g.Expect(err).NotTo(HaveOccurred())
	blocks := info.Sys().(*syscall.Stat_t).Blocks
	g.Expect(blocks*512).To(BeNumerically("<", 4<<20), "of a file of %d bytes", info.Size())
}
