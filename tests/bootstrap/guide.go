// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// ImageCommit is the commit in the guide, which the reader replaces.
const ImageCommit = "<the commit of the image>"

// inFleet matches the guide's names of files in the repository.
var inFleet = regexp.MustCompile("`((?:clusters|infrastructure)/[^`]+\\.yaml)`")

// Guide returns the text of the page.
func Guide() (string, error) { return page("guides/flux-bootstrap.md") }

// page returns the text of a page of docs.
func page(path string) (string, error) {
	root, err := process.RepoRoot()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", filepath.FromSlash(path)))
	return string(text), err
}

// Saved is what a reader can save today. A block of YAML is the file that was named last before it, so that one without a
// name of its own is another version of the file before.
func Saved() (sources.Files, error) {
	text, err := Guide()
	if err != nil {
		return nil, err
	}
	text, _, released := strings.Cut(text, "\n## Once there is a release\n")
	if !released {
		return nil, errors.New("the guide does not say what changes once there is a release")
	}
	lines := strings.Split(text, "\n")
	files, path, from := sources.Files{}, "", 0
	for _, block := range manifests.FencedBlocks("guide", text) {
		at, err := strconv.Atoi(strings.TrimPrefix(block.Name, "guide:"))
		if err != nil {
			return nil, err
		}
		for _, name := range inFleet.FindAllStringSubmatch(strings.Join(lines[from:at-1], "\n"), -1) {
			path = name[1]
		}
		if path == "" {
			return nil, fmt.Errorf("the block in line %d of the guide has no name", at)
		}
		files[path], from = block.Text, at
	}
	return files, nil
}
