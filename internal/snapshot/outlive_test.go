// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// A process that outlives its run, and a program of another run without a sandbox.
func TestACopyThatMayStillChangeIsNotUsedAgain(t *testing.T) {
	const file = "app/node_modules/a/index.js"
	for name, prepare := range map[string]func(g *WithT, root *os.Root) (later func(path string)){
		"a file that is open for writing": func(g *WithT, root *os.Root) func(string) {
			file := must(root.OpenFile(file, os.O_WRONLY, 0))
			return func(string) { t.Cleanup(func() { _ = file.Close() }) }
		},
		"a file that is written later": func(g *WithT, root *os.Root) func(string) {
			file := must(root.OpenFile(file, os.O_WRONLY, 0))
			return func(string) {
				g.Expect(must(file.WriteString("MODULE A"))).To(Equal(8))
				g.Expect(file.Close()).To(Succeed())
			}
		},
		"a file that is mapped for writing": func(g *WithT, root *os.Root) func(string) {
			mapping := mapped(g, root, file)
			return func(string) { t.Cleanup(func() { _ = unix.Munmap(mapping) }) }
		},
		"a file that is changed where the copy is": func(g *WithT, _ *os.Root) func(string) {
			return func(path string) { g.Expect(os.Chmod(filepath.Join(path, "0", "a", "index.js"), 0o600)).To(Succeed()) }
		},
		"a copy that is gone": func(g *WithT, _ *os.Root) func(string) {
			return func(path string) { g.Expect(os.RemoveAll(path)).To(Succeed()) }
		},
		"a directory that is gone": func(g *WithT, _ *os.Root) func(string) {
			return func(path string) { g.Expect(os.RemoveAll(filepath.Join(path, "1"))).To(Succeed()) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			store := open(t, roomy)
			of := id("apps", "a")
			root := installed(t, store, of)
			later := prepare(g, root)
			lent := copyIn(store, root)
			g.Expect(lent).NotTo(BeNil())
			g.Expect(store.TakeBack(root.Name())).To(Succeed())
			later(lent.path)
			g.Expect(copyIn(store, restored(t, store, of))).NotTo(Or(BeNil(), BeIdenticalTo(lent)))
			g.Expect(idleCopies(store)).To(BeEmpty())
		})
	}
}

// Not every kernel sets a time for what is written on tmpfs through a mapping that was read before.
func TestAMappingOnTmpfsIsNoticed(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Skip(err)
	}
	g := NewWithT(t)
	dir, err := os.MkdirTemp("/dev/shm", "snapshot-test-")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "d", "file")
	sealed := sealedFile(g, file)
	mapping := mapped(g, must(os.OpenRoot(dir)), "d/file")
	_ = mapping[0]
	mapping[0] = 'x'
	g.Expect(unix.Munmap(mapping)).To(Succeed())
	g.Expect(sealed.check(dirOf(file))).To(MatchError(errBroken))
}

// sealedFile seals a directory with one file.
func sealedFile(g *WithT, file string) *seal {
	g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(file, []byte(strings.Repeat("good", 4096)), 0o644)).To(Succeed())
	sealed, err := newSeal(dirOf(file), []string{"d", "d/file"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sealed.check(dirOf(file))).To(Succeed())
	return sealed
}

func dirOf(file string) []place { return []place{{name: "d", path: filepath.Dir(file)}} }

// moveExtents is EXT4_IOC_MOVE_EXT: whoever may write to two files exchanges their blocks, and the kernel sets no time.
const moveExtents = 0xc028660f

func TestAnExchangeOfBlocksIsNoticed(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	file, other := filepath.Join(dir, "d", "file"), filepath.Join(dir, "other")
	sealed := sealedFile(g, file)
	g.Expect(os.WriteFile(other, []byte(strings.Repeat("evil", 4096)), 0o644)).To(Succeed())
	before := must(os.Stat(file))

	mine, theirs := must(os.OpenFile(other, os.O_RDWR, 0)), must(os.OpenFile(file, os.O_RDWR, 0))
	g.Expect(mine.Sync()).To(Succeed())
	g.Expect(theirs.Sync()).To(Succeed())
	request := struct {
		_, donor                uint32
		from, at, length, moved uint64
	}{donor: uint32(theirs.Fd()), length: 4}
	_, _, fault := unix.Syscall(unix.SYS_IOCTL, mine.Fd(), moveExtents, uintptr(unsafe.Pointer(&request)))
	g.Expect(mine.Close()).To(Succeed())
	g.Expect(theirs.Close()).To(Succeed())
	if fault != 0 && request.moved == 0 {
		t.Skipf("this file system exchanges no blocks: %v", fault)
	}
	g.Expect(os.Stat(file)).To(HaveField("ModTime()", before.ModTime()))
	g.Expect(sealed.check(dirOf(file))).To(MatchError(errBroken))
}

func TestACopyIsOnlyForItsNamespaceAndKey(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	known := map[*spare]bool{}
	all := []ID{id("apps", "a"), id("infra", "a"), id("apps", "b")}
	for _, of := range all {
		root := installed(t, store, of)
		known[copyIn(store, root)] = true
		g.Expect(store.TakeBack(root.Name())).To(Succeed())
	}
	g.Expect(known).To(HaveLen(3))
	for _, of := range all {
		g.Expect(store.spares[of]).To(HaveLen(1))
		g.Expect(filepath.Base(filepath.Dir(store.spares[of][0].path))).To(Equal(of.Namespace))
		first, second := restored(t, store, of), restored(t, store, of)
		g.Expect(known).To(HaveKey(copyIn(store, first)))
		g.Expect(known).NotTo(HaveKey(copyIn(store, second)))
	}
}

func TestNoCopyOutlivesItsSnapshotOrItsProcess(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	of := id("apps", "a")
	root := installed(t, store, of)
	g.Expect(store.TakeBack(root.Name())).To(Succeed())
	g.Expect(os.Remove(store.path(of))).To(Succeed())
	g.Expect(store.Restore(t.Context(), of, workspace(t, source()))).To(BeFalse(), "without the snapshot, everything is installed again")
	g.Expect(idleCopies(store)).To(BeEmpty())

	root = installed(t, store, of)
	second := restored(t, store, of)
	g.Expect(store.TakeBack(root.Name())).To(Succeed())
	g.Expect(save(t, store, of, workspace(t, nil), func() {})).To(Succeed()) // a snapshot of nothing replaces it
	g.Expect(idleCopies(store)).To(BeEmpty())
	g.Expect(store.TakeBack(second.Name())).To(Succeed())
	g.Expect(idleCopies(store)).To(BeEmpty(), "a run had it from the old one")

	root = installed(t, store, of)
	g.Expect(store.TakeBack(root.Name())).To(Succeed())
	g.Expect(idleCopies(store)).To(HaveLen(1))
	again := openAt(t, store.dir, roomy)
	g.Expect(idleCopies(store)).To(BeEmpty())
	restored(t, again, of)
}

func TestWhatCannotBeMovedIsUnpacked(t *testing.T) {
	for name, install := range map[string]func(t *testing.T, root *os.Root){
		"a directory has files of the source, too": func(_ *testing.T, root *os.Root) { _ = root.Chmod("app", 0o711) },
		"a file beside the directories is big": func(t *testing.T, root *os.Root) {
			put(t, root, map[string]string{"app/bundle": strings.Repeat("x", maxLoose+1)})
		},
		"a link beside the directories": func(_ *testing.T, root *os.Root) { _ = root.Symlink("node_modules", "app/link") },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			store := open(t, roomy)
			of := id("apps", "a")
			for n := range 2 {
				root := workspace(t, source())
				if n == 0 {
					g.Expect(save(t, store, of, root, func() {
						put(t, root, modules())
						install(t, root)
					})).To(Succeed())
				} else {
					g.Expect(store.Restore(t.Context(), of, root)).To(BeTrue())
				}
				g.Expect(store.TakeBack(root.Name())).To(Succeed())
				g.Expect(idleCopies(store)).To(BeEmpty())
				g.Expect(root.ReadFile("app/node_modules/a/index.js")).To(BeEquivalentTo("module a"))
			}
		})
	}
	t.Run("another source has the directory", func(t *testing.T) {
		g := NewWithT(t)
		store := open(t, roomy)
		of := id("apps", "a")
		root := installed(t, store, of)
		known := copyIn(store, root)
		g.Expect(store.TakeBack(root.Name())).To(Succeed())
		root = workspace(t, source())
		put(t, root, map[string]string{"packages/one/node_modules/own/index.js": "own"})
		g.Expect(store.Restore(t.Context(), of, root)).To(BeTrue())
		g.Expect(root.ReadFile("packages/one/node_modules/own/index.js")).To(BeEquivalentTo("own"))
		g.Expect(root.ReadFile("app/node_modules/a/index.js")).To(BeEquivalentTo("module a"))
		g.Expect(copyIn(store, root)).NotTo(BeIdenticalTo(known))
		g.Expect(idleCopies(store)).To(BeEmpty())
	})
}

func TestCopiesGoBeforeSnapshots(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	old, young := id("apps", "old"), id("apps", "young")
	for _, of := range []ID{old, young} {
		root := installed(t, store, of)
		g.Expect(store.TakeBack(root.Name())).To(Succeed())
	}
	size := must(store.Size())
	store.limit = size
	g.Expect(store.makeRoom("", 0)).To(Succeed())
	g.Expect(store.spares).To(And(HaveKey(old), HaveKey(young)))
	store.limit--
	g.Expect(store.makeRoom("", 0)).To(Succeed())
	g.Expect(store.spares).To(And(Not(HaveKey(old)), HaveKey(young)))
	g.Expect(idleCopies(store)).To(HaveLen(1))

	root := restored(t, store, young)
	g.Expect(store.TakeBack(root.Name())).To(Succeed())
	store.spares[young][0].returned = time.Now().Add(-idleAfter - time.Minute)
	g.Expect(store.makeRoom("", 0)).To(Succeed())
	g.Expect(idleCopies(store)).To(BeEmpty(), "nobody has used it for long")
	g.Expect(filepath.Glob(filepath.Join(store.dir, "*", "*"+extension))).To(HaveLen(2), "the snapshots stay")
}

func TestCopiesOfRunsAtOnce(t *testing.T) {
	store := open(t, roomy)
	ids := []ID{id("apps", "a"), id("apps", "b"), id("infra", "a")}
	for _, of := range ids {
		installed(t, store, of)
	}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for round := range 5 {
				of := ids[(n+round)%len(ids)]
				root := restored(t, store, of)
				if (n+round)%4 == 0 {
					put(t, root, map[string]string{"app/node_modules/a/index.js": "changed by run " + strconv.Itoa(n)})
				}
				if err := store.TakeBack(root.Name()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, of := range ids {
		restored(t, store, of)
		NewWithT(t).Expect(len(store.spares[of])).To(BeNumerically("<=", 8))
	}
}
