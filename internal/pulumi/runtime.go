// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/encoding"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
)

// IsProjectFile reports whether a file of this name describes a project.
func IsProjectFile(name string) bool {
	return slices.ContainsFunc(encoding.Exts, func(ext string) bool { return name == workspace.ProjectFile+ext })
}

// RuntimeOf returns the runtime of the program in a directory of an artifact. The error is
// the one with which a run of this program fails.
func RuntimeOf(artifact *os.Root, dir string) (string, error) {
	place, err := loadProject(artifact, dir)
	if err != nil {
		return "", err
	}
	return place.project.Runtime.Name(), nil
}
