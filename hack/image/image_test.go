// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// testLayers has a file whose time differs from call to call.
func testLayers(t *testing.T, when time.Time) []layer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	g := NewWithT(t)
	g.Expect(os.WriteFile(file, []byte("a program"), 0o700)).To(Succeed())
	g.Expect(os.Chtimes(file, when, when)).To(Succeed())
	return []layer{{name: "base", entries: withParents([]entry{
		{path: "usr/bin/b", mode: 0o755, source: file},
		{path: "tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777},
		{path: "usr/bin/a", mode: fs.ModeSymlink | 0o777, link: "b"},
		{path: "etc/f", mode: 0o644, data: []byte("f")},
	})}}
}

func TestTheSameContentsAreTheSameArchive(t *testing.T) {
	g := NewWithT(t)
	var archives [2][]byte
	for i := range archives {
		o := options{arch: "arm64", name: "example.com/a/b:c", archive: filepath.Join(t.TempDir(), "image.tar"), created: time.Unix(0, 0).UTC()}
		image, err := newImage(o, testLayers(t, time.Now().Add(time.Duration(i)*time.Hour)))
		g.Expect(err).NotTo(HaveOccurred())
		var said bytes.Buffer
		g.Expect(writeArchive(o, image, &said)).To(Succeed())
		g.Expect(said.String()).To(ContainSubstring("example.com/a/b:c for linux/arm64"))
		archives[i], err = os.ReadFile(o.archive)
		g.Expect(err).NotTo(HaveOccurred())
		left, err := os.ReadDir(filepath.Dir(o.archive))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(left).To(HaveLen(1), "nothing but the archive is left")
	}
	g.Expect(bytes.Equal(archives[0], archives[1])).To(BeTrue())
}

func TestTrees(t *testing.T) {
	g := NewWithT(t)
	root := filepath.Join(t.TempDir(), "root")
	g.Expect(writeTrees(root, testLayers(t, time.Now()), time.Unix(1, 0))).To(Succeed())
	found := map[string]fs.FileMode{}
	g.Expect(filepath.WalkDir(filepath.Join(root, "base"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		inside, _ := filepath.Rel(root, path)
		found[inside] = info.Mode()
		if filepath.Dir(path) != root { // the directory of a layer is not part of it
			g.Expect(info.ModTime()).To(BeTemporally("==", time.Unix(1, 0)), inside)
		}
		return err
	})).To(Succeed())
	g.Expect(found).To(Equal(map[string]fs.FileMode{
		"base": fs.ModeDir | 0o755, "base/etc": fs.ModeDir | 0o755, "base/etc/f": 0o644, "base/tmp": fs.ModeDir | fs.ModeSticky | 0o777,
		"base/usr": fs.ModeDir | 0o755, "base/usr/bin": fs.ModeDir | 0o755, "base/usr/bin/a": fs.ModeSymlink | 0o777, "base/usr/bin/b": 0o755,
	}))
	g.Expect(writeTrees(root, testLayers(t, time.Now()), time.Unix(1, 0))).NotTo(Succeed(), "what is there already might stay")
}

func TestAnImageOfOneProgram(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "script"), []byte("#!/bin/sh"), 0o755)).To(Succeed())
	_, err := contents(t.Context(), options{program: filepath.Join(dir, "script")})
	g.Expect(err).To(MatchError(ContainSubstring("cannot be packed")))

	image, err := newImage(options{arch: "amd64", program: "bin/program"}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	file, err := image.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(file.Config.Entrypoint).To(Equal([]string{"/usr/local/bin/program"}))
	g.Expect(file.Config.User).To(Equal("65534:65534"))

	image, err = newImage(options{arch: "amd64", entrypoint: "/usr/bin/tini -- /start"}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	file, err = image.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(file.Config.Entrypoint).To(Equal([]string{"/usr/bin/tini", "--", "/start"}))
}

func TestALayerOfADirectory(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.MkdirAll(filepath.Join(dir, "a"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "a", "file"), nil, 0o755)).To(Succeed())
	g.Expect(os.Symlink("file", filepath.Join(dir, "a", "link"))).To(Succeed())
	l, err := added(dir)
	g.Expect(err).NotTo(HaveOccurred())
	var paths []string
	for _, e := range l.entries {
		paths = append(paths, e.path)
	}
	g.Expect(paths).To(Equal([]string{"a", "a/file", "a/link"}))
	g.Expect(l.entries[2].link).To(Equal("file"))
}
