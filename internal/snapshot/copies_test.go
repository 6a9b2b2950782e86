// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// modules is what an installation brings, with a file of the source that it has updated.
func modules() map[string]string {
	return map[string]string{
		"app/node_modules/a/index.js": "module a", "app/node_modules/a/deep/er/empty": "", "app/node_modules/b/big": strings.Repeat("x", 2*maxBatch),
		"packages/one/node_modules/c/index.js": "module c", "app/package-lock.json": "updated",
	}
}

// source has the directories into which modules are installed.
func source() map[string]string {
	return map[string]string{"app/index.ts": "program", "app/package-lock.json": "old", "packages/one/package.json": "{}"}
}

// installed keeps a snapshot of modules, and returns the workspace in which they were installed.
func installed(t *testing.T, store *Store, of ID) *os.Root {
	t.Helper()
	root := workspace(t, source())
	err := save(t, store, of, root, func() {
		put(t, root, modules())
		if err := root.Symlink("../a", "app/node_modules/b/a"); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// restored gets a snapshot into a new workspace.
func restored(t *testing.T, store *Store, of ID) *os.Root {
	t.Helper()
	root := workspace(t, source())
	if found, err := store.Restore(t.Context(), of, root); err != nil || !found {
		t.Fatalf("found %v: %v", found, err)
	}
	checkModules(t, root)
	return root
}

// checkModules fails unless a workspace has exactly what was installed.
func checkModules(t *testing.T, root *os.Root) {
	t.Helper()
	want := source()
	for name, text := range modules() {
		want[name] = text
	}
	g := NewWithT(t)
	found := map[string]string{}
	g.Expect(fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var text []byte
			text, err = root.ReadFile(name)
			found[name] = string(text)
		}
		return err
	})).To(Succeed())
	g.Expect(found).To(Equal(want))
	g.Expect(root.Readlink("app/node_modules/b/a")).To(Equal("../a"))
	for name := range found {
		g.Expect(must(root.Stat(name)).Mode()).To(Equal(fs.FileMode(0o644)), name)
	}
}

func inode(root *os.Root, name string) uint64 {
	return must(root.Lstat(name)).Sys().(*syscall.Stat_t).Ino
}

// copyIn is the copy that a workspace has.
func copyIn(store *Store, root *os.Root) *spare {
	store.mu.Lock()
	defer store.mu.Unlock()
	return store.lent[root.Name()]
}

// idleCopies are the directories of copies that no run uses.
func idleCopies(store *Store) []string {
	return must(filepath.Glob(filepath.Join(store.dir, "*", "*"+copied)))
}

func TestACopyThatWasLeftUntouchedIsUsedAgain(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	of := id("apps", "a")
	first := installed(t, store, of)
	known, brought := inode(first, "app/node_modules/a/deep/er/empty"), copyIn(store, first)
	bare := must(store.Size())
	g.Expect(store.TakeBack(first.Name())).To(Succeed())
	g.Expect(first.Lstat("app/node_modules")).Error().To(MatchError(fs.ErrNotExist))
	g.Expect(must(store.Size())).To(BeNumerically(">", 2*bare-20_000), "a copy counts")

	for n := range 3 {
		next := restored(t, store, of)
		g.Expect(inode(next, "app/node_modules/a/deep/er/empty")).To(Equal(known), "run %d", n)
		g.Expect(copyIn(store, next)).To(BeIdenticalTo(brought))
		g.Expect(idleCopies(store)).To(BeEmpty())
		g.Expect(store.TakeBack(next.Name())).To(Succeed())
		g.Expect(store.TakeBack(next.Name())).To(Succeed(), "once more")
	}

	second := restored(t, store, of)
	third := restored(t, store, of)
	g.Expect(inode(third, "app/node_modules/a/deep/er/empty")).NotTo(Equal(known), "each run has its own")
	unpacked := copyIn(store, third)
	g.Expect(store.TakeBack(second.Name())).To(Succeed())
	g.Expect(store.TakeBack(third.Name())).To(Succeed())
	g.Expect(copyIn(store, restored(t, store, of))).To(BeIdenticalTo(unpacked), "the one that was used last")
}

// What a program does to its copy, also if it hides that as well as it can.
func TestACopyThatWasChangedIsNotUsedAgain(t *testing.T) {
	const file = "app/node_modules/a/index.js"
	for name, change := range map[string]func(g *WithT, root *os.Root){
		"a file that was written and got its time back": func(g *WithT, root *os.Root) {
			was := must(root.Stat(file)).ModTime()
			g.Expect(root.WriteFile(file, []byte("MODULE A"), 0o644)).To(Succeed())
			g.Expect(root.Chtimes(file, was, was)).To(Succeed())
		},
		"a mode that was changed and changed back": func(g *WithT, root *os.Root) {
			g.Expect(root.Chmod(file, 0o755)).To(Succeed())
			g.Expect(root.Chmod(file, 0o644)).To(Succeed())
		},
		"a new file": func(g *WithT, root *os.Root) {
			g.Expect(root.WriteFile("app/node_modules/a/x", nil, 0o644)).To(Succeed())
		},
		"a new file at the top": func(g *WithT, root *os.Root) {
			g.Expect(root.WriteFile("app/node_modules/x", nil, 0o644)).To(Succeed())
		},
		"a new directory": func(g *WithT, root *os.Root) {
			g.Expect(root.Mkdir("packages/one/node_modules/x", 0o755)).To(Succeed())
		},
		"a removed file":      func(g *WithT, root *os.Root) { g.Expect(root.Remove(file)).To(Succeed()) },
		"a removed directory": func(g *WithT, root *os.Root) { g.Expect(root.RemoveAll("packages/one/node_modules")).To(Succeed()) },
		"a renamed file":      func(g *WithT, root *os.Root) { g.Expect(root.Rename(file, file+"x")).To(Succeed()) },
		"an empty file that is new": func(g *WithT, root *os.Root) {
			g.Expect(root.WriteFile("app/node_modules/a/deep/er/empty", nil, 0o644)).To(Succeed())
		},
		"the time of a file":        func(g *WithT, root *os.Root) { g.Expect(root.Chtimes(file, time.Time{}, time.Now())).To(Succeed()) },
		"the mode of a directory":   func(g *WithT, root *os.Root) { g.Expect(root.Chmod("app/node_modules/a/deep", 0o700)).To(Succeed()) },
		"the mode of the outermost": func(g *WithT, root *os.Root) { g.Expect(root.Chmod("app/node_modules", 0o700)).To(Succeed()) },
		"a hard link to a file":     func(g *WithT, root *os.Root) { g.Expect(root.Link(file, "alias")).To(Succeed()) },
		"a hard link that was removed": func(g *WithT, root *os.Root) {
			g.Expect(root.Link(file, "alias")).To(Succeed())
			g.Expect(root.WriteFile("alias", []byte("MODULE A"), 0o644)).To(Succeed())
			g.Expect(root.Remove("alias")).To(Succeed())
		},
		"a link that leads elsewhere": func(g *WithT, root *os.Root) {
			g.Expect(root.Remove("app/node_modules/b/a")).To(Succeed())
			g.Expect(root.Symlink("../b", "app/node_modules/b/a")).To(Succeed())
		},
		"a file that was replaced by the same": func(g *WithT, root *os.Root) {
			g.Expect(root.Rename(file, "old")).To(Succeed())
			g.Expect(root.WriteFile(file, []byte("module a"), 0o644)).To(Succeed())
		},
		"a directory in the place of the outermost": func(g *WithT, root *os.Root) {
			g.Expect(root.Rename("app/node_modules", "app/old")).To(Succeed())
			g.Expect(os.CopyFS(filepath.Join(root.Name(), "app/node_modules"), os.DirFS(filepath.Join(root.Name(), "app/old")))).To(Succeed())
		},
		"a link in the place of the outermost": func(g *WithT, root *os.Root) {
			g.Expect(root.Rename("app/node_modules", "app/old")).To(Succeed())
			g.Expect(root.Symlink("old", "app/node_modules")).To(Succeed())
		},
		"a pipe in the place of the program": func(g *WithT, root *os.Root) {
			g.Expect(root.Rename("app", "old")).To(Succeed())
			g.Expect(syscall.Mkfifo(filepath.Join(root.Name(), "app"), 0o600)).To(Succeed())
		},
		"a workspace that is gone": func(g *WithT, root *os.Root) { g.Expect(os.RemoveAll(root.Name())).To(Succeed()) },
		"what is written through a mapping": func(g *WithT, root *os.Root) {
			mapping := mapped(g, root, file)
			copy(mapping, "MODULE A")
			g.Expect(unix.Munmap(mapping)).To(Succeed())
		},
		"a file that was only opened for writing": func(g *WithT, root *os.Root) {
			g.Expect(must(root.OpenFile(file, os.O_WRONLY, 0)).Close()).To(Succeed())
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			store := open(t, roomy)
			of := id("apps", "a")
			installed(t, store, of)
			root := restored(t, store, of)
			changed := copyIn(store, root)
			g.Expect(changed).NotTo(BeNil())
			change(g, root)
			_ = store.TakeBack(root.Name()) // it may fail
			g.Expect(copyIn(store, restored(t, store, of))).NotTo(Or(BeNil(), BeIdenticalTo(changed)))
			g.Expect(idleCopies(store)).To(BeEmpty(), "nothing is left of it")
		})
	}
}

// mapped maps a file into memory, for writing.
func mapped(g *WithT, root *os.Root, name string) []byte {
	file, err := root.OpenFile(name, os.O_RDWR, 0)
	g.Expect(err).NotTo(HaveOccurred())
	mapping, err := unix.Mmap(int(file.Fd()), 0, len("module a"), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	g.Expect(errors.Join(err, file.Close())).To(Succeed())
	return mapping
}
