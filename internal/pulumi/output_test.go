// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

func TestAnOutputKeepsItsTwoEndsAndLittleDisk(t *testing.T) {
	g := NewWithT(t)
	o, err := newOutput(filepath.Join(t.TempDir(), "stdout"))
	g.Expect(err).NotTo(HaveOccurred())
	defer o.close()
	g.Expect(o.printed().text).To(BeEmpty())

	line := strings.Repeat("x", 99) + "\n"
	_, err = o.file.WriteString("the beginning\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.printed().text).To(Equal("the beginning\n"))
	for range 40 {
		_, err := o.file.WriteString(strings.Repeat(line, 10_000))
		g.Expect(err).NotTo(HaveOccurred())
		o.shrink()
	}
	_, err = o.file.WriteString("the end\n")
	g.Expect(err).NotTo(HaveOccurred())

	text := o.printed().text
	g.Expect(len(text)).To(BeNumerically("<", 3*keptBytes))
	g.Expect(text).To(And(HavePrefix("the beginning\n"), HaveSuffix("the end\n"), ContainSubstring("bytes are left out")))
	for kept := range strings.Lines(text) {
		g.Expect(kept == line || strings.HasPrefix(kept, "the ") || strings.HasPrefix(kept, "[...")).To(BeTrue(), kept)
	}
	info, err := o.file.Stat()
	g.Expect(err).NotTo(HaveOccurred())
	blocks := info.Sys().(*syscall.Stat_t).Blocks
	g.Expect(blocks*512).To(BeNumerically("<", 4<<20), "of a file of %d bytes", info.Size())
}

// If the gap splits a multi-line secret, neither end has all of it. Its lines are too
// short to be masked alone, or are not lines of the secret at all, as with base64.
func TestASecretIsMaskedOnBothSidesOfTheGap(t *testing.T) {
	var digits strings.Builder
	for n := range 150 {
		fmt.Fprintf(&digits, "%03d\n", n*7%1000)
	}
	certificate := strings.Join(chunks(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("hunter2/pässwörd?> ", 30))), 76), "\n")
	for name, test := range map[string]struct{ secret, printed string }{
		"short lines":     {digits.String(), digits.String()},
		"lines of base64": {strings.Repeat("hunter2/pässwörd?> ", 30), certificate},
		"coloured lines":  {digits.String(), strings.ReplaceAll(digits.String(), "\n", "\x1b[0m\n\x1b[31m")},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := mask.New([]string{test.secret})
			path := filepath.Join(t.TempDir(), "stderr")
			parts := strings.Count(test.printed, "\n")
			for part := 1; part <= parts; part += max(1, parts/10) {
				at := len(test.printed) * part / (parts + 1)
				for _, text := range []string{
					strings.Repeat("x", keptBytes-at-1) + "\n" + test.printed + "\n" + strings.Repeat("y", 2*keptBytes) + "\nthe end\n",
					"the beginning\n" + strings.Repeat("y", 2*keptBytes) + "\n" + test.printed + "\n" + strings.Repeat("x", keptBytes-(len(test.printed)-at)-2) + "\n",
				} {
					o, err := newOutput(path)
					g.Expect(err).NotTo(HaveOccurred())
					_, err = o.file.WriteString(text)
					g.Expect(err).NotTo(HaveOccurred())
					masked := strings.Trim(o.printed().masked(m), "xy")
					o.close()
					// A line of three digits gives nothing away.
					g.Expect(len(masked)).To(BeNumerically("<", 80), "%d of %d: %q", part, parts, masked)
					g.Expect(masked).To(ContainSubstring("bytes are left out"))
				}
			}
		})
	}
}

func chunks(text string, length int) []string {
	var all []string
	for chunk := range slices.Chunk([]byte(text), length) {
		all = append(all, string(chunk))
	}
	return all
}
