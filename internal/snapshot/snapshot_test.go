// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

const roomy = 1 << 30

func id(namespace, key string) ID { return ID{Namespace: namespace, Key: sha256.Sum256([]byte(key))} }

func open(t *testing.T, limit int64) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "snapshots"), limit)
}

func openAt(t *testing.T, dir string, limit int64) *Store {
	t.Helper()
	store := New(dir, limit)
	if err := store.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endWatches(store) })
	return store
}

// endWatches gives back the instances of inotify, of which a user has few.
func endWatches(store *Store) {
	store.mu.Lock()
	defer store.mu.Unlock()
	for _, c := range store.lent {
		_ = c.seal.Close()
	}
	for _, all := range store.spares {
		for _, c := range all {
			_ = c.seal.Close()
		}
	}
	clear(store.lent)
	clear(store.spares)
}

// workspace is a directory with files.
func workspace(t *testing.T, files map[string]string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	put(t, root, files)
	return root
}

func put(t *testing.T, root *os.Root, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := errors.Join(root.MkdirAll(filepath.Dir(name), 0o755), root.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// save installs in a workspace and keeps what that has brought.
func save(t *testing.T, store *Store, of ID, root *os.Root, install func()) error {
	t.Helper()
	before, err := List(root)
	if err != nil {
		t.Fatal(err)
	}
	install()
	after, err := List(root)
	if err != nil {
		t.Fatal(err)
	}
	names, err := after.Since(before)
	if err != nil {
		return err
	}
	return store.Save(t.Context(), of, root, names)
}

func TestASnapshotBringsWhatTheInstallationBrought(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	source := map[string]string{"package.json": "{}", "index.ts": "program", "package-lock.json": "old"}
	root := workspace(t, source)
	big := strings.Repeat("x", 3*maxBatch)
	when := time.Date(2020, 1, 2, 3, 4, 5, 600_000_000, time.UTC)
	g.Expect(save(t, store, id("apps", "a"), root, func() {
		put(t, root, map[string]string{
			"node_modules/a/index.js": "module", "node_modules/a/deep/er/file": "text", "package-lock.json": "updated", "big": big, "-x/first": "sorts before .",
		})
		g.Expect(root.Chmod("node_modules/a/index.js", 0o755)).To(Succeed())
		g.Expect(root.Chtimes("node_modules/a/index.js", when, when)).To(Succeed())
		g.Expect(root.MkdirAll("node_modules/empty", 0o755)).To(Succeed())
		g.Expect(root.MkdirAll("node_modules/.bin", 0o755)).To(Succeed())
		g.Expect(root.Symlink("../a/index.js", "node_modules/.bin/a")).To(Succeed())
		g.Expect(root.Symlink("/usr/bin/python3", "python")).To(Succeed())
		g.Expect(root.WriteFile("node_modules/a/read-only", []byte("r"), 0o444)).To(Succeed())
		g.Expect(root.Chmod("node_modules/a/deep", 0o555)).To(Succeed())
		t.Cleanup(func() { _ = root.Chmod("node_modules/a/deep", 0o755) })
	})).To(Succeed())

	other := workspace(t, source)
	g.Expect(store.Restore(t.Context(), id("apps", "a"), other)).To(BeTrue())
	t.Cleanup(func() { _ = other.Chmod("node_modules/a/deep", 0o755) })
	g.Expect(List(other)).To(WithTransform(contents, Equal(contents(must(List(root))))))
	for name, text := range map[string]string{"node_modules/a/deep/er/file": "text", "package-lock.json": "updated", "big": big, "index.ts": "program"} {
		g.Expect(other.ReadFile(name)).To(BeEquivalentTo(text), name)
	}
	g.Expect(other.Readlink("node_modules/.bin/a")).To(Equal("../a/index.js"))
	g.Expect(must(other.Stat("node_modules/a/index.js")).ModTime().UTC()).To(Equal(when.Truncate(time.Second)), "Python compares the seconds")

	put(t, other, map[string]string{"node_modules/a/index.js": "changed by a program"})
	third := workspace(t, source)
	g.Expect(store.Restore(t.Context(), id("apps", "a"), third)).To(BeTrue())
	g.Expect(third.ReadFile("node_modules/a/index.js")).To(BeEquivalentTo("module"), "what a program writes stays its own")
}

// contents leaves out what may differ: the times of what the source has.
func contents(all Listing) map[string]string {
	plain := map[string]string{}
	for name, s := range all {
		plain[name] = s.mode.String()
	}
	return plain
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestNothingIsSharedBetweenNamespacesOrKeys(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	root := workspace(t, nil)
	g.Expect(save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"node_modules/a": "1"}) })).To(Succeed())
	for _, other := range []ID{id("infra", "a"), id("apps", "b")} {
		g.Expect(store.Restore(t.Context(), other, workspace(t, nil))).To(BeFalse())
	}
}

func TestADamagedSnapshotIsRemovedAndNothingOfItIsUsed(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"a changed byte": func(b []byte) []byte { b[700] ^= 1; return b },
		"a cut end":      func(b []byte) []byte { return b[:len(b)-1] },
		"an empty file":  func([]byte) []byte { return nil },
		"more behind it": func(b []byte) []byte { return append(b, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			store := open(t, roomy)
			root := workspace(t, nil)
			g.Expect(save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"node_modules/a": "module"}) })).To(Succeed())
			path := store.path(id("apps", "a"))
			g.Expect(os.WriteFile(path, damage(must(os.ReadFile(path))), 0o600)).To(Succeed())

			other := workspace(t, nil)
			found, err := store.Restore(t.Context(), id("apps", "a"), other)
			g.Expect(found).To(BeFalse())
			g.Expect(err).To(MatchError(ErrCorrupt))
			g.Expect(List(other)).To(HaveLen(1), "only the directory itself")
			g.Expect(path).NotTo(BeAnExistingFile())
			g.Expect(store.Restore(t.Context(), id("apps", "a"), other)).To(BeFalse(), "as if it had never been")
		})
	}
}

// hostile is a snapshot as only someone with the directory could write it.
func hostile(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		h.Mode = 0o644
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	return append(out.Bytes(), sum[:]...)
}

func TestNothingIsWrittenOutsideOfTheWorkspace(t *testing.T) {
	for name, headers := range map[string][]tar.Header{
		"a name that leaves it": {{Typeflag: tar.TypeReg, Name: "../out"}},
		"an absolute name":      {{Typeflag: tar.TypeReg, Name: "/tmp/out"}},
		"a link and a file behind it": {
			{Typeflag: tar.TypeSymlink, Name: "link", Linkname: ".."}, {Typeflag: tar.TypeReg, Name: "link/out"}},
		"a hard link": {{Typeflag: tar.TypeLink, Name: "passwd", Linkname: "/etc/passwd"}},
		"a device":    {{Typeflag: tar.TypeChar, Name: "null"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			store := open(t, roomy)
			path := store.path(id("apps", "a"))
			g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
			g.Expect(os.WriteFile(path, hostile(t, headers...), 0o600)).To(Succeed())
			root := workspace(t, nil)
			_, err := store.Restore(t.Context(), id("apps", "a"), root)
			g.Expect(err).To(HaveOccurred())
			g.Expect(filepath.Join(root.Name(), "..", "out")).NotTo(BeAnExistingFile())
			g.Expect("/tmp/out").NotTo(BeAnExistingFile())
		})
	}
}

func TestASnapshotThatCannotBeCopiedWholeIsRemoved(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	root := workspace(t, nil)
	g.Expect(save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"a/file": "1", "b": "2"}) })).To(Succeed())
	other := workspace(t, map[string]string{"b/is/a/directory": ""})
	_, err := store.Restore(t.Context(), id("apps", "a"), other)
	g.Expect(err).To(MatchError(ErrPartial))
	g.Expect(store.Restore(t.Context(), id("apps", "a"), workspace(t, nil))).To(BeFalse(), "the next run installs")

	g.Expect(save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"c": "3"}) })).To(Succeed())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = store.Restore(ended, id("apps", "a"), workspace(t, nil))
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(store.Restore(t.Context(), id("apps", "a"), workspace(t, nil))).To(BeTrue(), "only that run has ended")
}

func TestACopyReplacesLinksAndMakesDirectories(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	root := workspace(t, map[string]string{"gen/README": ""})
	g.Expect(save(t, store, id("apps", "a"), root, func() {
		put(t, root, map[string]string{"gen/big": strings.Repeat("x", maxBatch+1)})
		g.Expect(root.Symlink("big", "gen/link")).To(Succeed())
	})).To(Succeed())
	other := workspace(t, nil)
	g.Expect(store.Restore(t.Context(), id("apps", "a"), other)).To(BeTrue())
	g.Expect(store.Restore(t.Context(), id("apps", "a"), other)).To(BeTrue())
	g.Expect(other.Readlink("gen/link")).To(Equal("big"))
}

func TestTheLeastUsedGoFirst(t *testing.T) {
	g := NewWithT(t)
	store := open(t, 12_000)
	text := strings.Repeat("x", 2000)
	for i, name := range []string{"a", "b", "c"} {
		root := workspace(t, nil)
		g.Expect(save(t, store, id("apps", name), root, func() { put(t, root, map[string]string{"f": text}) })).To(Succeed())
		used := time.Now().Add(time.Duration(i-10) * time.Minute)
		g.Expect(os.Chtimes(store.path(id("apps", name)), used, used)).To(Succeed())
	}
	// a is used, so that b is the least used one.
	g.Expect(store.Restore(t.Context(), id("apps", "a"), workspace(t, nil))).To(BeTrue())
	root := workspace(t, nil)
	g.Expect(save(t, store, id("infra", "d"), root, func() { put(t, root, map[string]string{"f": text}) })).To(Succeed())
	for name, isThere := range map[ID]bool{id("apps", "a"): true, id("apps", "b"): false, id("infra", "d"): true} {
		g.Expect(store.Restore(t.Context(), name, workspace(t, nil))).To(Equal(isThere), "%v", name)
	}
	g.Expect(store.Size()).To(BeNumerically("<=", 12_000))

	g.Expect(save(t, store, id("apps", "big"), root, func() { put(t, root, map[string]string{"g": strings.Repeat(text, 7)}) })).
		To(MatchError(ErrUnfit))
	g.Expect(store.Restore(t.Context(), id("apps", "a"), workspace(t, nil))).To(BeTrue(), "nothing goes for one that is too big anyway")
}

func TestWhatCannotBeUsedElsewhereIsNotKept(t *testing.T) {
	for name, install := range map[string]func(t *testing.T, root *os.Root){
		"a file of the source that is gone": func(_ *testing.T, root *os.Root) { _ = root.Remove("index.ts") },
		"a named pipe": func(_ *testing.T, root *os.Root) {
			_ = syscall.Mkfifo(filepath.Join(root.Name(), "pipe"), 0o600)
		},
		"a big list of packages in the home directory": func(t *testing.T, root *os.Root) {
			put(t, root, map[string]string{".pnp.cjs": strings.Repeat("x", maxBatch+1)})
		},
		"a link to the home directory": func(_ *testing.T, root *os.Root) {
			_ = root.Symlink(filepath.Join(filepath.Dir(root.Name()), "home/.local/bin/python3.12"), "python")
		},
		"a relative link to the home directory": func(_ *testing.T, root *os.Root) { _ = root.Symlink("../home/store/a", "a") },
		"a link to this very workspace":         func(_ *testing.T, root *os.Root) { _ = root.Symlink(root.Name()+"/index.ts", "a") },
		"packages in the home directory":        func(t *testing.T, root *os.Root) { put(t, root, map[string]string{".pnp.cjs": ""}) },
		"a file that became a directory": func(t *testing.T, root *os.Root) {
			_ = root.Remove("index.ts")
			put(t, root, map[string]string{"index.ts/x": ""})
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			store := open(t, roomy)
			root := workspace(t, map[string]string{"index.ts": ""})
			g.Expect(save(t, store, id("apps", "a"), root, func() { install(t, root) })).To(MatchError(ErrUnfit))
			g.Expect(store.Restore(t.Context(), id("apps", "a"), workspace(t, nil))).To(BeFalse())
			g.Expect(filepath.Glob(filepath.Join(store.dir, "*", "*"))).To(BeEmpty(), "nothing half written is left")
		})
	}
}

func TestFilesThatNameTheWorkspaceNameTheCopy(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	root := workspace(t, nil)
	g.Expect(save(t, store, id("apps", "a"), root, func() {
		put(t, root, map[string]string{
			"venv/lib/__editable___own_finder.py": "MAPPING = {'own': '" + root.Name() + "/own'}\n",
			"venv/bin/pip":                        "#!" + root.Name() + "/venv/bin/python\nimport pip", "venv/lib/__editable__.own.pth": root.Name() + "/src\n", "venv/readme": root.Name(),
		})
	})).To(Succeed())
	other := workspace(t, nil)
	g.Expect(store.Restore(t.Context(), id("apps", "a"), other)).To(BeTrue())
	g.Expect(other.ReadFile("venv/bin/pip")).To(BeEquivalentTo("#!" + other.Name() + "/venv/bin/python\nimport pip"))
	g.Expect(other.ReadFile("venv/lib/__editable__.own.pth")).To(BeEquivalentTo(other.Name() + "/src\n"))
	g.Expect(other.ReadFile("venv/lib/__editable___own_finder.py")).To(BeEquivalentTo("MAPPING = {'own': '" + other.Name() + "/own'}\n"))
	g.Expect(must(other.Stat("venv/lib/__editable___own_finder.py")).ModTime()).
		To(BeTemporally(">", must(root.Stat("venv/lib/__editable___own_finder.py")).ModTime()), "so that Python compiles it again")
	g.Expect(other.ReadFile("venv/readme")).To(BeEquivalentTo(root.Name()))
}

func TestAnUnfinishedSnapshotIsRemovedAtTheStart(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	root := workspace(t, nil)
	g.Expect(save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"f": "1"}) })).To(Succeed())
	left := filepath.Join(store.dir, "apps", "1"+writing)
	g.Expect(os.WriteFile(left, []byte("half"), 0o600)).To(Succeed())
	empty := filepath.Join(store.dir, "gone")
	g.Expect(os.Mkdir(empty, 0o700)).To(Succeed())
	again := openAt(t, store.dir, roomy)
	g.Expect(left).NotTo(BeAnExistingFile())
	g.Expect(empty).NotTo(BeADirectory())
	g.Expect(again.Restore(t.Context(), id("apps", "a"), workspace(t, nil))).To(BeTrue())

	smaller := openAt(t, store.dir, 100)
	g.Expect(smaller.Restore(t.Context(), id("apps", "a"), workspace(t, nil))).To(BeFalse(), "a smaller limit counts at the start")
}

func TestRunsThatStartTogetherInstallOnce(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	var installed int
	var all sync.WaitGroup
	for range 10 {
		root := workspace(t, nil)
		all.Go(func() {
			unlock, err := store.Lock(t.Context(), id("apps", "a"), nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			found, err := store.Restore(t.Context(), id("apps", "a"), root)
			if err != nil {
				t.Error(err)
			}
			if !found {
				installed++
				if err := save(t, store, id("apps", "a"), root, func() { put(t, root, map[string]string{"f": "1"}) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	g.Expect(installed).To(Equal(1))

	unlock, err := store.Lock(t.Context(), id("apps", "a"), nil)
	g.Expect(err).NotTo(HaveOccurred())
	defer unlock()
	errEnded := errors.New("ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnded)
	_, err = store.Lock(ctx, id("apps", "a"), nil)
	g.Expect(err).To(MatchError(errEnded))
	other, err := store.Lock(t.Context(), id("infra", "a"), nil)
	g.Expect(err).NotTo(HaveOccurred(), "another namespace does not wait")
	other()
}

func BenchmarkRestore(b *testing.B) {
	store := New(filepath.Join(b.TempDir(), "s"), 10*roomy)
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	before := must(List(root))
	// As many files and bytes as node_modules has with @pulumi/pulumi and TypeScript.
	text := bytes.Repeat([]byte("0123456789"), 1047)
	for dir := range 1280 {
		name := filepath.Join("node_modules", "p"+string(rune('a'+dir%26)), "d"+string(rune('a'+dir/26%26)), "e"+string(rune('a'+dir/676)))
		if err := root.MkdirAll(name, 0o755); err != nil {
			b.Fatal(err)
		}
		for file := range 10 {
			if err := root.WriteFile(filepath.Join(name, "f"+string(rune('0'+file))+string(rune('a'+dir%7))), text, 0o644); err != nil && !errors.Is(err, fs.ErrExist) {
				b.Fatal(err)
			}
		}
	}
	names := must(must(List(root)).Since(before))
	if err := store.Save(b.Context(), id("apps", "a"), root, names); err != nil {
		b.Fatal(err)
	}
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		other, err := os.OpenRoot(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		began := cpuTime()
		if _, err := store.Restore(b.Context(), id("apps", "a"), other); err != nil {
			b.Fatal(err)
		}
		cpu += cpuTime() - began
	}
	b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
}

func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
