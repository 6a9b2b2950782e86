// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestManifestsOfExamplesAreExplained looks for the README of each example, and for what it names: a command that a user copies
// must find its files. Links are looked at in tests/docs.
func TestManifestsOfExamplesAreExplained(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	index, err := os.ReadFile(filepath.Join(root, "examples", "README.md"))
	g.Expect(err).NotTo(HaveOccurred())
	folders, err := os.ReadDir(filepath.Join(root, "examples"))
	g.Expect(err).NotTo(HaveOccurred())
	named := regexp.MustCompile(`examples/[\w./-]*[\w/]`)
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		g.Expect(string(index)).To(ContainSubstring("("+folder.Name()+"/README.md)"), "the index names each example")
		readme := filepath.Join(root, "examples", folder.Name(), "README.md")
		text, err := os.ReadFile(readme)
		g.Expect(err).NotTo(HaveOccurred())
		for _, path := range named.FindAllString(string(text), -1) {
			_, err := os.Stat(filepath.Join(root, path))
			g.Expect(err).NotTo(HaveOccurred(), "%s names it", readme)
		}
	}
	g.Expect(strings.Count(string(index), "/README.md)")).To(BeNumerically(">=", 14))
}
