// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"io/fs"

	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
)

// MaxProjectFile bounds a file that describes a project, in bytes.
const MaxProjectFile = maxFile

// ProjectFiles are the paths of the files that may describe the project in a directory of a source.
func ProjectFiles(dir string) []string {
	var files []string
	for _, ext := range encoding.Exts {
		files = append(files, projectFile(dir, ext))
	}
	return files
}

// RuntimeOf returns the runtime of the program in a directory of a source, of which these are the
// files. The error is the one with which a run of this program fails.
func RuntimeOf(dir string, files map[string][]byte) (string, error) {
	place, err := findProject(dir, func(file string) ([]byte, error) {
		text, isThere := files[file]
		if !isThere {
			return nil, fs.ErrNotExist
		}
		return within(text, file, MaxProjectFile)
	})
	if err != nil {
		return "", err
	}
	return place.project.Runtime.Name(), nil
}
