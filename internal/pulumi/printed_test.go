// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
)

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
			dir := t.TempDir()
			path := filepath.Join(dir, "text")
			parts := strings.Count(test.printed, "\n")
			for part := 1; part <= parts; part += max(1, parts/10) {
				at := len(test.printed) * part / (parts + 1)
				for _, text := range []string{
					strings.Repeat("x", process.KeptBytes-at-1) + "\n" + test.printed + "\n" + strings.Repeat("y", 2*process.KeptBytes) + "\nthe end\n",
					"the beginning\n" + strings.Repeat("y", 2*process.KeptBytes) + "\n" + test.printed + "\n" + strings.Repeat("x", process.KeptBytes-(len(test.printed)-at)-2) + "\n",
				} {
					g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
					cat, err := process.Start(process.Command{
						Path: "cat", Args: []string{path}, PIDs: filepath.Join(dir, "pids"), Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"),
					})
					g.Expect(err).NotTo(HaveOccurred())
					<-cat.Done()
					masked := strings.Trim(printed{cat.Exit().Stdout}.masked(m), "xy")
					cat.Close()
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
