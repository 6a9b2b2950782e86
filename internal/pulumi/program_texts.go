// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// programTexts reads the files in which Pulumi YAML looks for a program. It returns
// none for other programs, and nil for a file that cannot be read: Pulumi reports what is
// wrong with it.
func programTexts(root *os.Root, place placedProject) [][]byte {
	if place.project.Runtime.Name() != yamlRuntime {
		return nil
	}
	var texts [][]byte
	dir, err := programDir(root, path.Dir(place.file), place.project.Main)
	if err != nil {
		texts = append(texts, nil)
	}
	files := []string{path.Clean(place.file)}
	for _, name := range programNames() {
		files = append(files, path.Join(dir, name))
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if text, err := readBounded(root, file); !errors.Is(err, fs.ErrNotExist) {
			texts = append(texts, text)
		}
	}
	return texts
}

// knowsItsSecrets reports whether all secrets that a program gives to resources are
// written in its text or come from the Stack, so that the masks know them. A program in
// another language, a compiler, a package and a function such as fn::invoke or
// fn::readFile can bring others, and so can a reference in an fn::secret.
func knowsItsSecrets(project *workspace.Project, texts [][]byte) bool {
	if !isInterpreted(project) || len(project.Packages) > 0 {
		return false
	}
	return len(texts) > 0 && !slices.ContainsFunc(texts, bringsSecrets)
}

// bringsSecrets reports whether the text of a program has secrets that are not written in
// it.
func bringsSecrets(text []byte) bool {
	function := regexp.MustCompile(`(?i)\bfn::[\w:]+`)
	return text == nil || mask.RefersInSecrets(text) || slices.ContainsFunc(function.FindAll(text, -1), func(name []byte) bool {
		return !strings.EqualFold(strings.TrimRight(string(name), ":"), "fn::secret")
	})
}
