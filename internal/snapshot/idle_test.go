// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// Each copy that waits has an instance of inotify.
func TestFewCopiesWait(t *testing.T) {
	g := NewWithT(t)
	store := open(t, 1<<30)
	for n := range maxIdle + 5 {
		g.Expect(store.TakeBack(installed(t, store, id("apps", fmt.Sprint(n))).Name())).To(Succeed())
	}
	g.Expect(idleCopies(store)).To(HaveLen(maxIdle))
	known := copyOf(store, id("apps", fmt.Sprint(maxIdle+4)))
	g.Expect(copyIn(store, restored(t, store, id("apps", fmt.Sprint(maxIdle+4))))).To(BeIdenticalTo(known), "the least recently used have gone")
}

// copyOf is a copy that waits.
func copyOf(store *Store, of ID) *spare {
	store.mu.Lock()
	defer store.mu.Unlock()
	return store.spares[of][0]
}

func TestACopyDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		store := open(t, roomy)
		root := installed(t, store, id("apps", "a"))
		g.Expect(store.TakeBack(root.Name())).To(Succeed())
		g.Expect(idleCopies(store)).To(HaveLen(1))
		time.Sleep(idleAfter)
		synctest.Wait()
		g.Expect(idleCopies(store)).To(BeEmpty(), "though nothing else has happened")
	})
}

// A later commit may not have a directory in which the installation has made one.
func TestACopyWithoutItsPlaceGoesBackWhole(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	of := id("apps", "a")
	first := installed(t, store, of)
	g.Expect(first.Chmod("packages/one", 0o755)).To(Succeed())
	g.Expect(store.TakeBack(first.Name())).To(Succeed())

	before := source()
	delete(before, "packages/one/package.json")
	next := workspace(t, before)
	c := copyOf(store, of)
	g.Expect(c.moveTo(next)).To(MatchError(os.ErrNotExist))
	for _, at := range c.idle() {
		g.Expect(at.path).To(BeADirectory())
	}
	g.Expect(next.Lstat("app/node_modules")).Error().To(MatchError(os.ErrNotExist))
	g.Expect(store.Restore(t.Context(), of, next)).To(BeTrue(), "it is unpacked")
	g.Expect(next.ReadFile("packages/one/node_modules/c/index.js")).To(Equal([]byte("module c")))
}

func TestAPipeInPlaceOfAFileHoldsUpNothing(t *testing.T) {
	g := NewWithT(t)
	root := workspace(t, source())
	g.Expect(unix.Mkfifo(root.Name()+"/pipe", 0o600)).To(Succeed())
	_, err := readFile(root, "pipe")
	g.Expect(err).To(MatchError(ErrUnfit))
}
