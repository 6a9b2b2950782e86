// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
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
	g.Expect(s.keepDependencies(t.Context(), id, root, snapshot.Listing{})).To(MatchError(snapshot.ErrUnfit))
	g.Expect(store.Restore(t.Context(), id, root)).To(BeFalse())
	writeTree(t, root.Name(), map[string]string{".venv/pyvenv.cfg": "home = /usr/bin"})
	g.Expect(s.keepDependencies(t.Context(), id, root, snapshot.Listing{})).To(Succeed())
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
	g.Expect(s.keepDependencies(t.Context(), id, root, before)).To(Succeed())
	writeTree(t, root.Name(), map[string]string{"index.ts": "rewritten"})
	g.Expect(s.keepDependencies(t.Context(), id, root, before)).To(MatchError(snapshot.ErrUnfit))
}

// A namespace that is deleted and created again may be that of another tenant.
func TestSnapshotsAreThoseOfOneNamespaceAndNotOfItsName(t *testing.T) {
	g := NewWithT(t)
	var said []string
	uid, broken := "1", error(nil)
	s := &session{
		driver: &Driver{
			Snapshots:    snapshot.New(t.TempDir(), 1<<20),
			NamespaceUID: func(context.Context, string) (string, error) { return uid, broken },
		},
		run:      run.Run{Namespace: "apps", Program: run.Program{Artifact: &run.Artifact{}}},
		prepared: &prepared{needs: needs{runtime: "nodejs"}},
		mask:     maskerOf(run.Run{}), log: func(line string) { said = append(said, line) },
	}
	root, err := os.OpenRoot(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = root.Close() }()
	first, _, isKept := s.snapshotID(t.Context(), root, sourced{})
	g.Expect(isKept).To(BeTrue())
	uid = "2"
	second, _, isKept := s.snapshotID(t.Context(), root, sourced{})
	g.Expect(isKept).To(BeTrue())
	g.Expect(second.Key).To(Equal(first.Key))
	g.Expect([]string{first.Namespace, second.Namespace}).To(Equal([]string{"apps.1", "apps.2"}))

	broken = errors.New("forbidden")
	_, _, isKept = s.snapshotID(t.Context(), root, sourced{})
	g.Expect(isKept).To(BeFalse())
	g.Expect(said).To(Equal([]string{"installs the dependencies without a snapshot: reading namespace apps: forbidden"}))
}

// progresses are the reports of what a run waits for.
type progresses struct {
	run.Reporter
	waiting []string
}

func (p *progresses) Progress(progress run.Progress) { p.waiting = append(p.waiting, progress.Waiting) }

func TestARunSaysThatItWaitsForAnotherThatInstallsTheSame(t *testing.T) {
	g := NewWithT(t)
	var reported progresses
	s := &session{
		driver: &Driver{Snapshots: snapshot.New(t.TempDir(), 1<<20)}, run: run.Run{Reporter: &reported},
		mask: maskerOf(run.Run{}), log: func(string) {},
	}
	unlock, err := s.lockSnapshot(t.Context(), snapshot.ID{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reported.waiting).To(BeEmpty())
	ctx, cancel := context.WithCancelCause(t.Context())
	s.log = func(string) { unlock() }
	unlock, err = s.lockSnapshot(ctx, snapshot.ID{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reported.waiting).To(Equal([]string{awaitingSame, installing}))
	s.log = func(string) { cancel(context.DeadlineExceeded) }
	_, err = s.lockSnapshot(ctx, snapshot.ID{})
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	unlock()
}
