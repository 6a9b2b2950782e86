// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver"
)

var packageName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// packages reads package versions, written as 1.2.3, or as name@1.2.3 like in a
// Pulumi.yaml. A package built from source at installation needs files that a Program
// does not have.
func packages(at *position, invalid, violations *findings) map[string]string {
	if at == nil {
		return nil
	}
	versions := map[string]string{}
	at.each(func(entry *position) {
		text, ok := entry.text()
		version := strings.TrimPrefix(strings.TrimPrefix(text, entry.key+"@"), "v")
		_, err := semver.Parse(version)
		switch {
		case ok && isPath(text):
			violations.add(entry, "is a path, and must be a version")
		case !packageName.MatchString(entry.key):
			invalid.add(entry, "is no name of a package")
		case !ok || err != nil:
			invalid.add(entry, "must be the version of the package, such as 1.2.3")
		default:
			versions[entry.key] = version
		}
	})
	return versions
}

// checkTypes checks the types of all resources.
func checkTypes(top *position, violations *findings) {
	if resources := top.get("resources"); resources != nil {
		resources.each(func(at *position) {
			checkToken(at.get("type"), typeOf(at), violations)
		})
	}
}

// checkToken refuses the token of a resource or function whose package is a path: Pulumi
// might look there for a plugin and run it.
func checkToken(at *position, token string, violations *findings) {
	pkg, _, _ := strings.Cut(strings.TrimPrefix(token, providerType), ":")
	if strings.ContainsAny(pkg, `/\`) {
		violations.add(at, "names its package by a path")
	}
}

// isPath reports whether a package source is a path.
func isPath(text string) bool {
	file := strings.HasPrefix(strings.ToLower(text), "file:")
	return file || filepath.IsAbs(text) || strings.HasPrefix(text, ".") || slices.Contains(strings.Split(text, "/"), "..")
}
