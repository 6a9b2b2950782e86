// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// errNoMirror is why packages cannot be downloaded.
var errNoMirror = errors.New("this machine's apt has no mirror of Debian: set DEBIAN_MIRRORS=https://mirror.example.com/debian")

// mirrors returns the mirrors of Debian to download from: those that were given, separated
// by spaces, or else those from which the apt of this machine installs.
func mirrors(given, apt string) ([]string, error) {
	found := strings.Fields(given)
	if len(found) == 0 {
		found = aptMirrors(apt)
	}
	if len(found) == 0 {
		return nil, errNoMirror
	}
	for n, mirror := range found {
		found[n] = strings.TrimRight(mirror, "/") + "/"
	}
	return found, nil
}

// aptMirrors reads the sources of apt in both of its formats (sources.list(5)). A source
// that is a list of mirrors is read, too, as the images of Debian for clouds have it.
func aptMirrors(apt string) []string {
	var found []string
	for _, pattern := range []string{"sources.list", "sources.list.d/*.list", "sources.list.d/*.sources"} {
		files, _ := filepath.Glob(filepath.Join(apt, pattern)) // the pattern is valid
		for _, file := range files {
			for _, word := range words(file) {
				if list, ok := strings.CutPrefix(word, "mirror+file:"); ok {
					found = append(found, debianIn(words(list))...)
				}
			}
			found = append(found, debianIn(words(file))...)
		}
	}
	return found
}

// words are those of a file without its comments. A file that cannot be read has none.
func words(file string) []string {
	text, _ := os.ReadFile(file)
	var all []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		all = append(all, strings.Fields(line)...)
	}
	return all
}

// debianIn picks the addresses of Debian's own archive: not those of its security updates,
// and not those of other distributions.
func debianIn(words []string) []string {
	var found []string
	for _, word := range words {
		address, err := url.Parse(word)
		if err == nil && strings.HasPrefix(address.Scheme, "http") && path.Base(address.Path) == "debian" {
			found = append(found, word)
		}
	}
	return found
}
