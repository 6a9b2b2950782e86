// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestCommandsThatChangeAnObjectOutlastFlux looks for the field manager in each: what a manager whose name begins with kubectl has set,
// kustomize-controller takes back.
func TestCommandsThatChangeAnObjectOutlastFlux(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	changes, err := commandsOf(os.DirFS(root), regexp.MustCompile(`kubectl (?:-n \S+ )?(?:annotate|patch) .*\b(?:stack|policyset)s?(?:\.pulumi\.com)?[ /]`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(changes)).To(BeNumerically(">=", 10))
	g.Expect(changes).To(HaveEach(Or(
		ContainSubstring(" --field-manager=flux-client-side-apply "), ContainSubstring(" --subresource=status "), // Flux applies no status
	)))
}

// TestCommandsThatWatchNameOneKind: kubectl refuses to watch more than one kind.
func TestCommandsThatWatchNameOneKind(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	watches, err := commandsOf(os.DirFS(root), regexp.MustCompile(`kubectl (?:-n \S+ )?get .*--watch\b`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(watches)).To(BeNumerically(">=", 5))
	g.Expect(watches).To(HaveEach(Not(MatchRegexp(` get \S*,`))))
}

// commandsOf returns what the pages of users have that matches, with the page before it. A line that a backslash continues is one with the next.
func commandsOf(repository fs.FS, command *regexp.Regexp) ([]string, error) {
	pages, err := pagesOf(repository, []string{"README.md", "docs", "examples"})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, page := range pages {
		source, err := fs.ReadFile(repository, page)
		if err != nil {
			return nil, err
		}
		for _, text := range command.FindAllString(strings.ReplaceAll(string(source), "\\\n", " "), -1) {
			found = append(found, page+": "+text)
		}
	}
	return found, nil
}
