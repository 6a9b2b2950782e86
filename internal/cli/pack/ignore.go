// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

// ignoreFiles are read in each directory. A file that git does not have is in no source
// either.
var ignoreFiles = []string{".gitignore", sourceignore.IgnoreFile}

// tree is a directory within its git repository, whose rules hold in it as well. Outside
// of one the directory is the top itself.
type tree struct{ top, dir string }

func findTree(dir string) tree {
	for top := dir; ; top = filepath.Dir(top) {
		if _, err := os.Stat(filepath.Join(top, ".git")); err == nil {
			return tree{top, dir}
		}
		if top == filepath.Dir(top) {
			return tree{dir, dir}
		}
	}
}

// parts are the path of what is in the tree, from its top.
func (t tree) parts(path string) []string {
	rel, err := filepath.Rel(t.top, path)
	if err != nil || rel == "." {
		return nil
	}
	return strings.Split(filepath.ToSlash(rel), "/")
}

// rules are those that hold in the directory itself, but for its own files.
func (t tree) rules() ([]gitignore.Pattern, error) {
	rules := slices.Concat(sourceignore.VCSPatterns(nil), sourceignore.DefaultPatterns(nil))
	parts := t.parts(t.dir)
	for i := range parts {
		own, err := t.rulesIn(filepath.Join(append([]string{t.top}, parts[:i]...)...))
		if err != nil {
			return nil, err
		}
		rules = append(rules, own...)
	}
	return rules, nil
}

// rulesIn are those that stand in the directory.
func (t tree) rulesIn(dir string) ([]gitignore.Pattern, error) {
	var rules []gitignore.Pattern
	for _, name := range ignoreFiles {
		own, err := sourceignore.ReadIgnoreFile(filepath.Join(dir, name), t.parts(dir))
		if err != nil {
			return nil, fmt.Errorf("reading what is to be left out: %w", err)
		}
		rules = append(rules, own...)
	}
	return rules, nil
}
