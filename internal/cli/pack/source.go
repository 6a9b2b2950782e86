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

// Source is what the Flux source of the program excludes.
type Source struct {
	// Ignore is its spec.ignore, which overrides the other rules of Flux.
	Ignore string
	// Dir is the directory of the program in the source. The paths in Ignore are relative to
	// the root of the source.
	Dir string
}

// sourceRules are the rules of a Source.
type sourceRules struct {
	dir      []string
	patterns []gitignore.Pattern
	includes bool
}

func (s Source) rules() sourceRules {
	dir := strings.Trim(path.Clean("/"+s.Dir), "/")
	return sourceRules{
		dir:      strings.FieldsFunc(dir, func(r rune) bool { return r == '/' }),
		patterns: sourceignore.ReadPatterns(strings.NewReader(s.Ignore), nil), includes: includes(s.Ignore),
	}
}

// match is the result of the last pattern that matches a path in the directory of the
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
