// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path"
	"slices"
)

// programTexts reads the files in which Pulumi YAML looks for a program. It returns
// none for other programs, and skips files that are missing or unreadable: Pulumi
// reports what is wrong with them.
func programTexts(root *os.Root, place placedProject) [][]byte {
	if place.project.Runtime.Name() != yamlRuntime {
		return nil
	}
	dir := path.Join(path.Dir(place.file), place.project.Main)
	files := []string{path.Clean(place.file), path.Join(dir, "Main.json"), path.Join(dir, "Main.yaml"), path.Join(dir, "Pulumi.yaml")}
	slices.Sort(files)
	var texts [][]byte
	for _, file := range slices.Compact(files) {
		if text, err := readBounded(root, file); err == nil {
			texts = append(texts, text)
		}
	}
	return texts
}
