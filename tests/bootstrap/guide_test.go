// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

func saved(g Gomega) sources.Files {
	files, err := Saved()
	g.Expect(err).NotTo(HaveOccurred())
	return files
}

func TestTheTreeInTheGuideHasWhatItTellsToSave(t *testing.T) {
	g := NewWithT(t)
	text, err := Guide()
	g.Expect(err).NotTo(HaveOccurred())
	_, tree, found := strings.Cut(text, "```text\n")
	g.Expect(found).To(BeTrue())
	tree, _, _ = strings.Cut(tree, "```")
	var shown, told []string
	dir := ""
	for line := range strings.Lines(tree) {
		before, entry, isEntry := strings.Cut(line, "── ")
		if !isEntry {
			dir = strings.TrimSpace(before)
		} else if name := strings.Fields(entry)[0]; !strings.HasSuffix(name, "/") {
			shown = append(shown, dir+name)
		}
	}
	for path := range saved(g) {
		if !strings.Contains(path, "/flux-system/") {
			told = append(told, path)
		}
	}
	g.Expect(len(shown)).To(BeNumerically(">", 4))
	slices.Sort(shown)
	slices.Sort(told)
	g.Expect(told).To(Equal(shown))
}
