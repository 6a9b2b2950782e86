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
	dir := path.Join(path.Dir(place.file), place.project.Main)
	files := []string{path.Clean(place.file), path.Join(dir, "Main.json"), path.Join(dir, "Main.yaml"), path.Join(dir, "Pulumi.yaml")}
	slices.Sort(files)
	var texts [][]byte
	for _, file := range slices.Compact(files) {
		if text, err := readBounded(root, file); !errors.Is(err, fs.ErrNotExist) {
			texts = append(texts, text)
		}
	}
	return texts
}

// mainText reads the file that Pulumi YAML runs, which is the first that exists. It returns
// nil for other programs, for those made by a compiler, and if the file cannot be read:
// Pulumi reports what is wrong with it.
func mainText(root *os.Root, place placedProject) []byte {
	if place.project.Runtime.Name() != yamlRuntime || place.project.Runtime.Options()["compiler"] != nil {
		return nil
	}
	dir := path.Join(path.Dir(place.file), place.project.Main)
	for _, file := range []string{"Main.json", "Main.yaml", "Pulumi.yaml"} {
		if _, err := root.Stat(path.Join(dir, file)); err != nil {
			continue
		}
		text, err := readBounded(root, path.Join(dir, file))
		if err != nil {
			return nil
		}
		return text
	}
	return nil
}

// knowsItsSecrets reports whether all secrets that a program gives to resources are
// written in its text or come from the Stack, so that the masks know them. A program in
// another language, a compiler, a package and a function such as fn::invoke or
// fn::readFile can bring others, and so can a reference in an fn::secret.
func knowsItsSecrets(project *workspace.Project, texts [][]byte) bool {
	if project.Runtime.Name() != yamlRuntime || project.Runtime.Options()["compiler"] != nil || len(project.Packages) > 0 {
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
