// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// An installation may leave links in the workspace. The code of the program is not moved to where they lead.
func TestCodeIsNotMovedOutOfTheWorkspace(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	dir, elsewhere := Directory(t.TempDir()), t.TempDir()
	g.Expect(dir.Make()).To(Succeed())
	writeTree(t, dir.Workspace(), map[string]string{"__main__.py": "main", "pkg/a.py": "a", "other/b.py": "b", "data.txt": "kept"})
	root, err := os.OpenRoot(dir.Workspace())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = root.Close() }()

	back, err := setAside(root, dir.aside())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.Glob(filepath.Join(dir.Workspace(), "*", "*.py"))).To(BeEmpty())
	g.Expect(back()).To(Succeed())
	g.Expect(os.ReadFile(filepath.Join(dir.Workspace(), "pkg", "a.py"))).To(BeEquivalentTo("a"))
	g.Expect(dir.aside()).NotTo(BeADirectory())

	back, err = setAside(root, dir.aside())
	g.Expect(err).NotTo(HaveOccurred())
	pkg := filepath.Join(dir.Workspace(), "pkg")
	g.Expect(os.Remove(pkg)).To(Succeed())
	g.Expect(os.Symlink(elsewhere, pkg)).To(Succeed())
	g.Expect(back()).To(MatchError(ContainSubstring("path escapes from parent")))
	g.Expect(os.ReadDir(elsewhere)).To(BeEmpty())
	g.Expect(os.ReadFile(filepath.Join(dir.Workspace(), "__main__.py"))).To(BeEquivalentTo("main"))
	g.Expect(os.ReadFile(filepath.Join(dir.Workspace(), "other", "b.py"))).To(BeEquivalentTo("b"))
}
