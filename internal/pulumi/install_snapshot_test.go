// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
)

func TestOnlyWhatTheWorkspaceHasOfPythonIsKept(t *testing.T) {
	g := NewWithT(t)
	store := snapshot.New(t.TempDir(), 1<<20)
	s := &session{driver: &Driver{Snapshots: store}, prepared: &prepared{needs: needs{runtime: "python"}}}
	id := snapshot.ID{Namespace: "apps"}
	root, err := os.OpenRoot(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = root.Close() }()
	writeTree(t, root.Name(), map[string]string{"poetry.lock": "# as poetry and pip without a virtual environment leave it"})
	g.Expect(s.keepDependencies(id, root, snapshot.Listing{})).To(MatchError(snapshot.ErrUnfit))
	g.Expect(store.Restore(t.Context(), id, root)).To(BeFalse())
	writeTree(t, root.Name(), map[string]string{".venv/pyvenv.cfg": "home = /usr/bin"})
	g.Expect(s.keepDependencies(id, root, snapshot.Listing{})).To(Succeed())
	g.Expect(store.Restore(t.Context(), id, root)).To(BeTrue())
}

func TestWhatChangesTheSourceIsNotKept(t *testing.T) {
	g := NewWithT(t)
	store := snapshot.New(t.TempDir(), 1<<20)
	s := &session{driver: &Driver{Snapshots: store}, prepared: &prepared{needs: needs{runtime: "nodejs"}}}
	id := snapshot.ID{Namespace: "apps"}
	root, err := os.OpenRoot(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = root.Close() }()
	writeTree(t, root.Name(), map[string]string{"index.ts": "1", "package-lock.json": "1", "node_modules/a/index.js": "1"})
	before, err := snapshot.List(root)
	g.Expect(err).NotTo(HaveOccurred())
	writeTree(t, root.Name(), map[string]string{"package-lock.json": "updated", "node_modules/a/index.js": "updated"})
	g.Expect(s.keepDependencies(id, root, before)).To(Succeed())
	writeTree(t, root.Name(), map[string]string{"index.ts": "rewritten"})
	g.Expect(s.keepDependencies(id, root, before)).To(MatchError(snapshot.ErrUnfit))
}
