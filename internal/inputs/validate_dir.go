// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"path/filepath"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// validateDir refuses a program directory outside its source. A leading slash means the
// root of the source.
func validateDir(spec v1.StackSpec) error {
	field, dir := "spec.repoDir", spec.RepoDir
	if spec.FluxSource != nil {
		field, dir = "spec.fluxSource.dir", spec.FluxSource.Dir
	}
	if !filepath.IsLocal(filepath.Clean(strings.TrimLeft(dir, "/"))) {
		return &InvalidError{field, "leads out of the source: give a path relative to its root"}
	}
	return nil
}
