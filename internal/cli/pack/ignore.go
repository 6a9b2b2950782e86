// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

const gitIgnoreFile = ".gitignore"

// rules say what to exclude. A git source never has files that git ignores, whatever
// Flux's rules say. Later rules override earlier ones.
type rules struct {
	git, flux []gitignore.Pattern
	// includes says that a rule of Flux re-includes something, perhaps in an excluded
	// directory.
	includes bool
}

func (r rules) with(more rules) rules {
	return rules{slices.Concat(r.git, more.git), slices.Concat(r.flux, more.flux), r.includes || more.includes}
}

// tree is a directory within its git repository, whose rules apply to it as well. Outside
// of a repository, the directory itself is the top.
type tree struct{ top, dir, git string }

func findTree(dir string) tree {
	for top := dir; ; top = filepath.Dir(top) {
		git := filepath.Join(top, ".git")
		if _, err := os.Stat(git); err == nil {
			return tree{top, dir, git}
		}
		if top == filepath.Dir(top) {
			return tree{dir, dir, ""}
		}
	}
}

// parts returns the path of a file in the tree, relative to the top.
func (t tree) parts(path string) []string {
	rel, err := filepath.Rel(t.top, path)
	if err != nil || rel == "." {
		return nil
	}
	return strings.Split(filepath.ToSlash(rel), "/")
}

// rules returns the rules for the directory itself, without those of its own files.
func (t tree) rules(options Options) (rules, error) {
	personal, err := t.personalRules(options)
	if err != nil {
		return rules{}, err
	}
	// Of git's own files, Flux excludes .git, which may be a file.
	all := rules{git: append(personal, gitignore.ParsePattern(".git", nil))}
	parts := t.parts(t.dir)
	for i := range parts {
		own, err := t.rulesIn(filepath.Join(append([]string{t.top}, parts[:i]...)...))
		if err != nil {
			return rules{}, err
		}
		all = all.with(own)
	}
	return all, nil
}

// personalRules returns git's rules from outside the tree: those of the person and of the
// clone. They often exclude secrets.
func (t tree) personalRules(options Options) ([]gitignore.Pattern, error) {
	if t.git == "" {
		return nil, nil
	}
	dir, err := gitDir(t.git)
	if err != nil {
		return nil, err
	}
	files := []string{filepath.Join(dir, "info", "exclude")}
	if options.Excludes != nil {
		file, err := options.Excludes(t.top)
		if err != nil {
			return nil, err
		}
		files = append([]string{file}, files...)
	}
	var rules []gitignore.Pattern
	for _, file := range files {
		own, err := sourceignore.ReadIgnoreFile(file, nil)
		if err != nil {
			return nil, fmt.Errorf("reading which files to ignore: %w", err)
		}
		rules = append(rules, own...)
	}
	return rules, nil
}

// gitDir returns the directory that all work trees of a repository share. In a linked
// work tree or a submodule, .git is a file that says where that is.
func gitDir(git string) (string, error) {
	if info, err := os.Stat(git); err == nil && info.IsDir() {
		return git, nil
	}
	text, err := os.ReadFile(git)
	if err != nil {
		return "", fmt.Errorf("finding the git repository: %w", err)
	}
	own := from(filepath.Dir(git), strings.TrimPrefix(string(text), "gitdir:"))
	common, err := os.ReadFile(filepath.Join(own, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return own, nil
	}
	if err != nil {
		return "", fmt.Errorf("finding the git repository: %w", err)
	}
	return from(own, string(common)), nil
}

// from resolves a path relative to a directory.
func from(dir, path string) string {
	path = strings.TrimSpace(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// rulesIn returns the rules in the ignore files of the directory.
func (t tree) rulesIn(dir string) (rules, error) {
	git, err := sourceignore.ReadIgnoreFile(filepath.Join(dir, gitIgnoreFile), t.parts(dir))
	if err != nil {
		return rules{}, fmt.Errorf("reading which files to ignore: %w", err)
	}
	flux, err := os.ReadFile(filepath.Join(dir, sourceignore.IgnoreFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return rules{}, fmt.Errorf("reading which files to ignore: %w", err)
	}
	return rules{git, sourceignore.ReadPatterns(bytes.NewReader(flux), t.parts(dir)), includes(string(flux))}, nil
}

// includes returns whether a pattern re-includes something.
func includes(text string) bool { return strings.HasPrefix(text, "!") || strings.Contains(text, "\n!") }

// hasDefaults reports whether the default exclusions of Flux apply. Rules of the source
// replace them, and so does a .sourceignore in whatever directory of the repository.
func (l *listed) hasDefaults(ctx context.Context, options Options) (bool, error) {
	if len(l.source.patterns) > 0 {
		return false, nil
	}
	personal, err := l.personalRules(options)
	if err != nil {
		return false, err
	}
	replaced, err := l.replaceDefaults(ctx, l.top, append(personal, gitignore.ParsePattern(".git", nil)))
	return !replaced, err
}

// replaceDefaults reports whether a .sourceignore has a pattern, in the directory or below
// it. What git ignores is in no source, and is not looked into. Nor is what cannot be read,
// which need not concern the program.
func (t tree) replaceDefaults(ctx context.Context, dir string, git []gitignore.Pattern) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	own, err := t.rulesIn(dir)
	if err != nil || len(own.flux) > 0 {
		return err == nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, nil
	}
	git = slices.Concat(git, own.git)
	ignored := sourceignore.NewMatcher(git)
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if !entry.IsDir() || ignored.Match(t.parts(path), true) {
			continue
		}
		if found, err := t.replaceDefaults(ctx, path, git); found || err != nil {
			return found, err
		}
	}
	return false, nil
}
