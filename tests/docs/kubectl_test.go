// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestCommandsThatChangeAStackOutlastFlux looks for the field manager in each: what a manager whose name begins with kubectl has set,
// kustomize-controller takes back.
func TestCommandsThatChangeAStackOutlastFlux(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	pages, err := pagesOf(os.DirFS(root), []string{"README.md", "docs", "examples"})
	g.Expect(err).NotTo(HaveOccurred())
	// A command ends with a line that no backslash continues.
	command := regexp.MustCompile(`kubectl (?:-n \S+ )?(?:annotate|patch) (?:[^\n]|\\\n)*`)
	ofStack := regexp.MustCompile(`\bstacks?(?:\.pulumi\.com)?[ /]`)
	found := 0
	for _, page := range pages {
		source, err := fs.ReadFile(os.DirFS(root), page)
		g.Expect(err).NotTo(HaveOccurred())
		for _, text := range command.FindAllString(string(source), -1) {
			if ofStack.MatchString(text) {
				found++
				g.Expect(text).To(ContainSubstring(" --field-manager=flux-client-side-apply "), page)
			}
		}
	}
	g.Expect(found).To(BeNumerically(">=", 10))
}
