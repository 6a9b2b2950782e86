// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"path"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

// Source is what the source of the program says of its files.
type Source struct {
	// Ignore is its spec.ignore, which goes before what Flux leaves out otherwise.
	Ignore string
	// Dir is the directory of the program in it, from whose top the paths of Ignore count.
	Dir string
}

// sourceRules are those of a Source.
type sourceRules struct {
	dir      []string
	patterns []gitignore.Pattern
}

func (s Source) rules() sourceRules {
	dir := strings.Trim(path.Clean("/"+s.Dir), "/")
	return sourceRules{strings.FieldsFunc(dir, func(r rune) bool { return r == '/' }), sourceignore.ReadPatterns(strings.NewReader(s.Ignore), nil)}
}

// match says what the last pattern does that is about the path in the directory of the
// program.
func (s sourceRules) match(name []string, isDir bool) gitignore.MatchResult {
	path := slices.Concat(s.dir, name)
	for _, pattern := range slices.Backward(s.patterns) {
		if result := pattern.Match(path, isDir); result != gitignore.NoMatch {
			return result
		}
	}
	return gitignore.NoMatch
}
