// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestMirrors(t *testing.T) {
	g := NewWithT(t)
	apt := t.TempDir()
	_, err := mirrors(" ", apt)
	g.Expect(err).To(MatchError(errNoMirror))

	write := func(name, text string) {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(apt, name)), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(apt, name), []byte(text), 0o600)).To(Succeed())
	}
	list := filepath.Join(apt, "mirrors", "debian.list")
	write("mirrors/debian.list", "https://cloud.example/debian\n")
	write("sources.list", "# deb https://comment.example/debian bookworm main\n"+
		"deb [arch=amd64] https://one.example/debian/ bookworm main\n"+
		"deb https://one.example/debian-security bookworm-security main\n"+
		"deb https://one.example/ubuntu noble main\n")
	write("sources.list.d/a.list", "deb mirror+file:"+list+" bookworm main\n")
	write("sources.list.d/debian.sources", "Types: deb\nURIs: http://two.example/debian\n  http://three.example/debian\nSuites: bookworm\n")
	g.Expect(mirrors("", apt)).To(Equal([]string{
		"https://one.example/debian/", "https://cloud.example/debian/", "http://two.example/debian/", "http://three.example/debian/",
	}))
	g.Expect(mirrors("https://given.example/debian https://snapshot.example/2026/", apt)).To(Equal([]string{
		"https://given.example/debian/", "https://snapshot.example/2026/",
	}))
}
