// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"regexp"
	"strings"
)

// isOwn reports whether a file in a stack trace is one of the program: not of the
// language, a dependency or Pulumi. The paths of the program are relative by now.
func isOwn(file string) bool {
	foreign := regexp.MustCompile(`(^|/)(node_modules|site-packages|dist-packages|\.pulumi|vendor)/|^(node:|internal/|<)`)
	return !strings.HasPrefix(file, "/") && !strings.HasPrefix(file, "~") && !strings.HasPrefix(file, "$") && !foreign.MatchString(file)
}
