// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"fmt"
	"strings"
)

// validateBranch checks a branch name like git check-ref-format.
func validateBranch(branch string) error {
	if isRefName(branch) {
		return nil
	}
	return &InvalidError{"spec.branch", fmt.Sprintf("%q is not a valid name of a git branch: correct it", branch)}
}

// isRefName reports whether git accepts a name for a branch.
func isRefName(name string) bool {
	if name == "" || name == "@" || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsAny(name, ` ~^:?*[\`) {
		return false
	}
	for _, char := range []byte(name) {
		if char < ' ' || char == 0x7f {
			return false
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}
