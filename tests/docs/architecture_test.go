// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestTheArchitectureNamesEveryPackage looks for each directory below internal and tests in the tables and the text of the page.
func TestTheArchitectureNamesEveryPackage(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, place := range []struct {
		directory string
		// short allows the page to leave out the parent directory of the package.
		short bool
	}{{"internal", false}, {"tests", true}} {
		packages, err := fs.ReadDir(os.DirFS(root), place.directory)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(packages)).To(BeNumerically(">", 10))
		for _, entry := range packages {
			full := path.Join(place.directory, entry.Name())
			named := strings.Contains(string(page), "`"+full+"`") || place.short && strings.Contains(string(page), "`"+entry.Name()+"`")
			g.Expect(named).To(BeTrue(), "the page says what %s is for", full)
		}
	}
}
