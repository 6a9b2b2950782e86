// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestWhatAnotherProcessIsWritingIsLeftAlone(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	young, old := filepath.Join(dir, "apps", "1"+writing), filepath.Join(dir, "apps", "2"+writing)
	g.Expect(os.Mkdir(filepath.Dir(young), 0o700)).To(Succeed())
	for _, path := range []string{young, old} {
		g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	}
	before := time.Now().Add(-abandoned - time.Minute)
	g.Expect(os.Chtimes(old, before, before)).To(Succeed())

	release, err := NewShared(dir, roomy).Reserve(t.Context(), id("apps", "a"), time.Minute, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(release()).To(Succeed())
	g.Expect(young).To(BeAnExistingFile())
	g.Expect(old).NotTo(BeAnExistingFile(), "its writer has died")
}

func TestAReservationIsAUse(t *testing.T) {
	g := NewWithT(t)
	store := NewShared(t.TempDir(), roomy)
	root := workspace(t, nil)
	g.Expect(save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"a": "1"}) })).To(Succeed())
	before := time.Now().Add(-time.Hour)
	g.Expect(os.Chtimes(store.path(id("apps", "a")), before, before)).To(Succeed())
	_, err := store.Reserve(t.Context(), id("apps", "a"), time.Minute, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(must(os.Stat(store.path(id("apps", "a")))).ModTime()).To(BeTemporally(">", before.Add(time.Minute)))
}

func TestAReadOnlyStoreRemovesNothing(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	path := New(dir, roomy).path(id("apps", "a"))
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(path, []byte("damaged"), 0o600)).To(Succeed())
	_, err := NewReadOnly(dir).Restore(t.Context(), id("apps", "a"), workspace(t, nil))
	g.Expect(err).To(MatchError(ErrCorrupt))
	g.Expect(path).To(BeAnExistingFile())
}

func TestWhatAnotherProcessIsWritingTakesRoom(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	store := NewShared(dir, 20_000)
	path := filepath.Join(dir, "apps", "1"+writing)
	g.Expect(os.Mkdir(filepath.Dir(path), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(path, make([]byte, 18_000), 0o600)).To(Succeed())
	root := workspace(t, nil)
	another := func() error {
		return save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"f": strings.Repeat("x", 4000)}) })
	}
	g.Expect(another()).To(MatchError(ErrUnfit))
	g.Expect(os.Remove(path)).To(Succeed())
	g.Expect(another()).To(Succeed())
}
