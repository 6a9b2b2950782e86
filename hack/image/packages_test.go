// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestEachPackageIsPinnedForBothArchitectures(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"busybox-static", "tini"} {
		for _, arch := range []string{"amd64", "arm64"} {
			p, err := findPin(pinned, name, arch)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.sum).To(HaveLen(2 * sha256.Size))
			g.Expect(p.path).To(And(HavePrefix("pool/main/"), HaveSuffix("_"+arch+".deb")))
		}
	}
	_, err := findPin(pinned, "tini", "s390x")
	g.Expect(err).To(MatchError("no package tini is pinned for s390x"))
}

func TestDownload(t *testing.T) {
	g := NewWithT(t)
	current := httptest.NewServer(http.NotFoundHandler())
	defer current.Close()
	snapshot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("the package at " + r.URL.Path))
	}))
	defer snapshot.Close()

	sum := sha256.Sum256([]byte("the package at /pool/p.deb"))
	p := pin{name: "p", sum: hex.EncodeToString(sum[:]), path: "pool/p.deb"}
	g.Expect(p.download(t.Context(), current.URL+"/", snapshot.URL+"/")).To(HaveLen(26), "it is gone from the first place")

	p.sum = strings.Repeat("0", 2*sha256.Size)
	_, err := p.download(t.Context(), current.URL+"/", snapshot.URL+"/")
	g.Expect(err).To(MatchError(And(ContainSubstring("404"), ContainSubstring("as pinned"))))
}

func TestAr(t *testing.T) {
	member := func(name, size, data string) string {
		return name + strings.Repeat(" ", 48-len(name)) + size + strings.Repeat(" ", 10-len(size)) + "`\n" + data
	}
	for _, test := range []struct {
		name, data string
		want       map[string][]byte
		fails      string
	}{
		{name: "two members, of which one has an odd size", data: arMagic + member("a", "3", "abc\n") + member("b/", "2", "de"),
			want: map[string][]byte{"a": []byte("abc"), "b": []byte("de")}},
		{name: "an odd size at the end", data: arMagic + member("a", "1", "a"), want: map[string][]byte{"a": []byte("a")}},
		{name: "no archive", data: "PK", fails: "no ar archive"},
		{name: "cut off", data: arMagic + member("a", "9", "abc"), fails: "no size that can be"},
		{name: "a size that is no number", data: arMagic + member("a", "x", "abc"), fails: "no size that can be"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			members, err := readAr([]byte(test.data))
			if test.fails != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.fails)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(members).To(Equal(test.want))
		})
	}
}

func TestProgramsThatCannotBePacked(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Symlink(self, filepath.Join(dir, "link"))).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "script"), []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
	g.Expect(os.Link(self, filepath.Join(dir, "self"))).To(Succeed())
	for name, fault := range map[string]string{
		"missing": "has to be built before",
		"link":    "no file of its own",
		"script":  "failed to read what it is built from",
		"self":    "not from example.com/other",
	} {
		_, err := program{name, "example.com/other"}.entry(options{bin: dir, arch: "amd64"})
		g.Expect(err).To(MatchError(ContainSubstring(fault)), name)
	}
}
