// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// inFleet is how the guide names a file of the repository.
var inFleet = regexp.MustCompile("`((?:clusters|infrastructure)/[^`]+\\.yaml)`")

// guide is the text of the page.
func guide(g Gomega) string {
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "docs", "guides", "flux-bootstrap.md"))
	g.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// saved is what a reader has saved at the end of the guide. A block of YAML is the file that was named last before it, so
// that one without a name of its own is another version of the file before.
func saved(g Gomega) sources.Files {
	text := guide(g)
	lines := strings.Split(text, "\n")
	files, path, from := sources.Files{}, "", 0
	for _, block := range manifests.FencedBlocks("guide", text) {
		at, err := strconv.Atoi(strings.TrimPrefix(block.Name, "guide:"))
		g.Expect(err).NotTo(HaveOccurred())
		for _, name := range inFleet.FindAllStringSubmatch(strings.Join(lines[from:at-1], "\n"), -1) {
			path = name[1]
		}
		g.Expect(path).NotTo(BeEmpty(), "the block in line %d has no name", at)
		files[path], from = block.Text, at
	}
	return files
}

func TestTheTreeInTheGuideHasWhatItTellsToSave(t *testing.T) {
	g := NewWithT(t)
	_, tree, found := strings.Cut(guide(g), "```text\n")
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
