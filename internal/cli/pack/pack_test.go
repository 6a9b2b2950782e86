// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"context"
	"crypto/rand"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	fluxtar "github.com/fluxcd/pkg/tar"
	. "github.com/onsi/gomega"
)

// write creates files from their contents by name. That of a link is "-> target".
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	g := NewWithT(t)
	for name, text := range files {
		path := filepath.Join(dir, name)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		if target, link := strings.CutPrefix(text, "-> "); link {
			g.Expect(os.Symlink(target, path)).To(Succeed())
			continue
		}
		g.Expect(os.WriteFile(path, []byte(text), 0o644)).To(Succeed())
	}
}

// unpacked returns the files in the archive.
func unpacked(t *testing.T, data []byte) []string {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(fluxtar.Untar(bytes.NewReader(data), dir)).To(Succeed())
	var names []string
	g.Expect(filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})).To(Succeed())
	return names
}

func TestADirectoryIsPackedAsASourceWouldBe(t *testing.T) {
	g := NewWithT(t)
	top := t.TempDir()
	write(t, top, map[string]string{
		".git/HEAD":                         "ref: refs/heads/main\n",
		".gitignore":                        "node_modules/\n*.log\n",
		"infra/.sourceignore":               "# comment\n/docs/\n",
		"infra/net/.gitignore":              "!kept.log\n/bin\n",
		"infra/net/Pulumi.yaml":             "name: net\n",
		"infra/net/index.ts":                "",
		"infra/net/lib/a.ts":                "",
		"infra/net/lib/bin/a.ts":            "",
		"infra/net/bin/a.js":                "",
		"infra/net/debug.log":               "",
		"infra/net/kept.log":                "",
		"infra/net/node_modules/x/index.js": "",
		"infra/net/logo.png":                "",
		"infra/net/.github/workflow.yaml":   "",
		"infra/net/docs/a.md":               "",
		"infra/docs/b.md":                   "",
		"infra/net/out":                     "-> /etc/passwd",
		"infra/net/up":                      "-> ../..",
	})
	packed, err := Dir(t.Context(), filepath.Join(top, "infra/net"), Options{Limit: 1 << 20})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(unpacked(t, packed.Data)).To(ConsistOf("Pulumi.yaml", "index.ts", "lib/a.ts", "lib/bin/a.ts", "kept.log", "docs/a.md",
		"logo.png", ".github/workflow.yaml"), "a .sourceignore takes the place of the defaults of Flux")
	g.Expect(packed.Files).To(Equal(8))
	g.Expect(packed.Links).To(ConsistOf("out", "up"))

	again, err := Dir(t.Context(), filepath.Join(top, "infra/net"), Options{Limit: 1 << 20})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Data).To(Equal(packed.Data), "the same files are the same archive")
	write(t, top, map[string]string{"link": "-> infra/net"})
	again, err = Dir(t.Context(), filepath.Join(top, "link"), Options{Limit: 1 << 20})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Data).To(Equal(packed.Data), "a link to the directory is as good")
}

func TestPersonalGitExcludesApply(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		dir   string
		want  []string
	}{
		"of a clone": {map[string]string{".git/info/exclude": "infra/local\n"}, "infra", []string{"Pulumi.yaml", "mine.txt", "sub/local"}},
		"of a work tree": {map[string]string{".git": "gitdir: main/.git/worktrees/a\n", "main/.git/worktrees/a/commondir": "../..\n",
			"main/.git/info/exclude": "local\n"}, "infra", []string{"Pulumi.yaml", "mine.txt"}},
		"of a submodule": {map[string]string{"infra/.git": "gitdir: ../.git/modules/infra\n", ".git/modules/infra/info/exclude": "/local\n", ".git/info/exclude": "*\n"},
			"infra", []string{"Pulumi.yaml", "mine.txt", "sub/local"}},
		"everywhere":         {map[string]string{".git/HEAD": "", "excludes": "mine.*\n"}, "infra", []string{"Pulumi.yaml", "local", "sub/local"}},
		"but here":           {map[string]string{".git/info/exclude": "!mine.txt\n", "excludes": "mine.*\n"}, "infra", []string{"Pulumi.yaml", "local", "mine.txt", "sub/local"}},
		"outside of all git": {map[string]string{"excludes": "mine.*\n"}, "infra", []string{"Pulumi.yaml", "local", "mine.txt", "sub/local"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			top := t.TempDir()
			write(t, top, map[string]string{"infra/Pulumi.yaml": "name: net\n", "infra/local": "", "infra/sub/local": "", "infra/mine.txt": ""})
			write(t, top, test.files)
			excludes := func(string) (string, error) { return filepath.Join(top, "excludes"), nil }
			packed, err := Dir(t.Context(), filepath.Join(top, test.dir), Options{Limit: 1 << 20, Excludes: excludes})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(unpacked(t, packed.Data)).To(ConsistOf(test.want))
		})
	}
}

func TestIrregularFilesAreNamedByKind(t *testing.T) {
	g := NewWithT(t)
	for mode, want := range map[fs.FileMode]string{
		0: "file", fs.ModeSymlink: "link", fs.ModeNamedPipe: "named pipe", fs.ModeSocket: "socket", fs.ModeDevice | fs.ModeCharDevice: "device", fs.ModeIrregular: "no file",
	} {
		g.Expect(kindOf(mode)).To(Equal(want))
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"Pulumi.yaml": "name: a\n", "link": "-> Pulumi.yaml"})
	listener, err := net.Listen("unix", filepath.Join(dir, "sock"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = listener.Close() }()
	packed, err := Dir(t.Context(), dir, Options{Limit: 1 << 20})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(packed.Links).To(ConsistOf("link"))
	g.Expect(packed.Others).To(ConsistOf("sock (socket)"))
	g.Expect(unpacked(t, packed.Data)).To(ConsistOf("Pulumi.yaml"))
}

func TestADirectoryThatIsNoProgramIsRefused(t *testing.T) {
	noise := make([]byte, 70<<10)
	_, err := rand.Read(noise)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, test := range map[string]struct {
		files map[string]string
		path  string
		want  string
	}{
		"missing":           {nil, "absent", "no such file or directory"},
		"a file":            {map[string]string{"a/Pulumi.yaml": "name: a\n"}, "a/Pulumi.yaml", "Pulumi.yaml is a file: specify the directory of the program"},
		"empty":             {map[string]string{"a/b/.gitignore": "*\n"}, "a", "a has no Pulumi.yaml, or it is a symbolic link or ignored"},
		"links alone":       {map[string]string{"a/b": "-> /etc"}, "a", "a has no Pulumi.yaml"},
		"without a project": {map[string]string{"a/index.ts": "x"}, "a", "a has no Pulumi.yaml, or it is a symbolic link or ignored"},
		"with its project left out": {map[string]string{"a/index.ts": "x", "a/Pulumi.yaml": "name: a\n", "a/.sourceignore": "Pulumi.yaml\n"}, "a",
			"a has no Pulumi.yaml, or it is a symbolic link or ignored"},
		"too large": {map[string]string{"a/Pulumi.yaml": "name: a\n", "a/noise": string(noise), "a/small": "x"}, "a",
			"a is too large: its 3 files have 70KiB and take more than 64KiB when packed. Ignore some with a .sourceignore; the largest are noise (70KiB), Pulumi.yaml (8B), small (1B)"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			write(t, dir, test.files)
			_, err := Dir(t.Context(), filepath.Join(dir, test.path), Options{Limit: 64 << 10})
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestAProgramThatIsTooLargeIsNotRead(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"Pulumi.yaml": "name: a\n", "zero.bin": ""})
	g.Expect(os.Truncate(filepath.Join(dir, "zero.bin"), 2<<40)).To(Succeed())
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan error, 1)
	go func() {
		_, err := Dir(ctx, dir, Options{Limit: 1 << 30}) // reading all of it would take an hour
		ended <- err
	}()
	g.Eventually(ended, time.Minute).Should(Receive(MatchError(
		ContainSubstring("is too large: its 2 files have 2TiB and take more than 1GiB when packed"))))
}

func TestExcludedDirectoriesAreNotRead(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{".gitignore": "node_modules/\n", "Pulumi.yaml": "name: a\n", "lib/index.ts": ""})
	plain, err := Dir(t.Context(), dir, Options{Limit: 1 << 20})
	g.Expect(err).NotTo(HaveOccurred())
	// A directory whose path is too long to be read.
	top, err := os.OpenRoot(dir)
	g.Expect(err).NotTo(HaveOccurred())
	name := "node_modules"
	for range 20 {
		g.Expect(top.Mkdir(name, 0o755)).To(Succeed())
		below, err := top.OpenRoot(name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(top.Close()).To(Succeed())
		top, name = below, strings.Repeat("a", 250)
	}
	g.Expect(top.Close()).To(Succeed())
	packed, err := Dir(t.Context(), dir, Options{Limit: 1 << 20})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(packed.Data).To(Equal(plain.Data))
}

func TestTheArchiveIsTheSameAsOfFlux(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"Pulumi.yaml": "name: a\n", "lib/index.ts": "x", "lib.ts": "y", "lib/a/b/" + strings.Repeat("long", 40): "z"})
	packed, err := Dir(t.Context(), dir, Options{Limit: 1 << 20})
	g.Expect(err).NotTo(HaveOccurred())
	var want bytes.Buffer
	_, err = fluxtar.Tar(dir, &want)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(packed.Data).To(Equal(want.Bytes()))
}

func TestPackingEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"Pulumi.yaml": "name: a\n", "zero.bin": ""})
	g.Expect(os.Truncate(filepath.Join(dir, "zero.bin"), 1<<40)).To(Succeed())
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Dir(ctx, dir, Options{Limit: 1 << 31})
		ended <- err
	}()
	interrupt()
	g.Eventually(ended, time.Minute).Should(Receive(MatchError(context.Canceled)))

	bounds := &bounded{ctx: ctx, limit: 10}
	_, err := bounds.Write([]byte("a"))
	g.Expect(err).To(MatchError(context.Canceled), "in the midst of a file")
}

func TestADirectoryWithoutAProjectIsNotRead(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"below/Pulumi.yaml": "name: a\n", "below/.gitignore/a": "which cannot be read as a file"})
	_, err := Dir(t.Context(), dir, Options{Limit: 1 << 20})
	g.Expect(err).To(MatchError(ContainSubstring("has no Pulumi.yaml")))
}
