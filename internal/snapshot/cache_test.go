// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// fill puts bytes into a read-only directory of the cache, as Go's module cache has them.
func fill(t *testing.T, c *Cache, size int) {
	t.Helper()
	dir := filepath.Join(c.Dir, "modules")
	err := errors.Join(c.BeginWriting(), os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "file"), []byte(strings.Repeat("x", size)), 0o444), os.Chmod(dir, 0o555))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
}

func opened(t *testing.T, s *Store, namespace string) *Cache {
	t.Helper()
	return must(s.Cache(namespace))
}

func TestEachNamespaceHasItsOwnCache(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	apps, infra := opened(t, store, "apps"), opened(t, store, "infra")
	g.Expect(apps.Dir).NotTo(Equal(infra.Dir))
	fill(t, apps, 1000)
	g.Expect(apps.EndWriting()).To(Succeed())
	g.Expect(store.Size()).To(BeEquivalentTo(1000))
	g.Expect(apps.Close()).To(Succeed())
	g.Expect(infra.Close()).To(Succeed())

	again := opened(t, store, "apps")
	g.Expect(filepath.Join(again.Dir, "modules", "file")).To(BeARegularFile())
	g.Expect(again.Close()).To(Succeed())
	restarted := openAt(t, store.dir, roomy)
	g.Expect(restarted.Size()).To(BeEquivalentTo(1000), "a restarted process knows it")
}

func TestCachesAreBoundedTogetherWithSnapshots(t *testing.T) {
	g := NewWithT(t)
	store := open(t, 10_000)
	apps := opened(t, store, "apps")
	fill(t, apps, 6000)
	g.Expect(apps.EndWriting()).To(Succeed())
	g.Expect(apps.Close()).To(Succeed())
	// The clock of the file system, by which snapshots are compared with them, may be late.
	apps.of.used = time.Now().Add(-2 * time.Hour)
	infra := opened(t, store, "infra")
	infra.of.used = time.Now().Add(-time.Hour)
	fill(t, infra, 6000)
	g.Expect(infra.EndWriting()).To(Succeed())
	g.Expect(apps.Dir).NotTo(BeADirectory(), "the least recently used goes, although it is read-only")
	g.Expect(infra.Dir).To(BeADirectory())

	root := workspace(t, nil)
	big := strings.Repeat("x", 7000)
	g.Expect(save(t, store, id("infra", "a"), root, func() { put(t, root, map[string]string{"big": big}) })).To(Succeed())
	g.Expect(infra.Dir).To(BeADirectory(), "it is in use")
	g.Expect(infra.Close()).To(Succeed())
	g.Expect(save(t, store, id("infra", "a"), root, func() { put(t, root, map[string]string{"more": big}) })).To(Succeed())
	g.Expect(infra.Dir).NotTo(BeADirectory(), "it is the least recently used")
	g.Expect(store.Size()).To(BeNumerically("<=", 10_000))
	g.Expect(filepath.Glob(filepath.Join(store.dir, "*", "*"+removing))).To(BeEmpty())
}

func TestACacheThatIsTooBigIsNotKept(t *testing.T) {
	g := NewWithT(t)
	store := open(t, 10_000)
	root := workspace(t, nil)
	g.Expect(save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"small": "x"}) })).To(Succeed())
	apps := opened(t, store, "apps")
	fill(t, apps, 20_000)
	g.Expect(apps.EndWriting()).To(Succeed())
	g.Expect(apps.Dir).To(BeADirectory())
	g.Expect(apps.Close()).To(Succeed())
	g.Expect(apps.Dir).NotTo(BeADirectory())
	g.Expect(store.Restore(t.Context(), id("apps", "a"), workspace(t, nil))).To(BeTrue(), "nothing else has to go for it")
}

func TestACacheThatWasBeingWrittenIsRemoved(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	apps, infra := opened(t, store, "apps"), opened(t, store, "infra")
	fill(t, apps, 1000)
	fill(t, infra, 1000)
	g.Expect(apps.BeginWriting()).To(Succeed(), "the second")
	g.Expect(apps.EndWriting()).To(Succeed(), "one of two")
	g.Expect(infra.EndWriting()).To(Succeed())

	restarted := openAt(t, store.dir, roomy)
	g.Expect(apps.Dir).NotTo(BeADirectory(), "the process ended before the tools did")
	g.Expect(infra.Dir).To(BeADirectory())
	g.Expect(opened(t, restarted, "apps").Dir).To(BeADirectory(), "the next is empty")
}

func TestACacheThatWasBeingRemovedIsRemoved(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	left := filepath.Join(store.dir, "apps", "1"+removing, cacheName)
	g.Expect(os.MkdirAll(left, 0o700)).To(Succeed())
	openAt(t, store.dir, roomy)
	g.Expect(filepath.Dir(left)).NotTo(BeADirectory())
}
