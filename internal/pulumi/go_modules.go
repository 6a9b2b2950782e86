// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// linkModules links the modules that go.mod names from the module cache of the namespace into that
// of the run, and the toolchains: the language host looks for them there, and so does go if the program
// calls it. Programs do not know the cache of the namespace, and what go downloads for
// them stays in that of the run.
func linkModules(root *os.Root, seen sourced, from string, home *os.Root) error {
	text, err := readBounded(root, seen.nearest["go.mod"])
	if err != nil {
		return err
	}
	modules := modulesIn(text)
	toolchains, err := filepath.Glob(filepath.Join(from, "golang.org", "toolchain@*"))
	if err != nil {
		return err
	}
	for _, dir := range toolchains {
		modules = append(modules, path.Join("golang.org", filepath.Base(dir)))
	}
	for _, module := range modules {
		name, version, _ := strings.Cut(module, "@")
		download := path.Join("cache", "download", name, "@v", version)
		for _, file := range []string{module, download + ".info", download + ".mod", download + ".zip", download + ".ziphash"} {
			if err := linkModule(filepath.Join(from, file), home, path.Join("go/pkg/mod", file)); err != nil {
				return err
			}
		}
	}
	return nil
}

// modulesIn are the modules with a version in a go.mod, as the module cache names them: with a "!"
// in place of a capital.
func modulesIn(text []byte) []string {
	var all []string
	for _, m := range regexp.MustCompile(`([^\s/"][^\s"]*)"? (v\d[^\s"]*)`).FindAllSubmatch(text, -1) {
		module := regexp.MustCompile("[A-Z]").ReplaceAllStringFunc(string(m[1])+"@"+string(m[2]), func(capital string) string {
			return "!" + strings.ToLower(capital)
		})
		if filepath.IsLocal(module) {
			all = append(all, module)
		}
	}
	return all
}

// linkModule links what there is, into a home in which a program may have left links that lead elsewhere.
func linkModule(target string, home *os.Root, link string) error {
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := home.MkdirAll(path.Dir(link), 0o700); err != nil {
		return fmt.Errorf("linking the modules of the program: %w", err)
	}
	if err := home.Symlink(target, link); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("linking the modules of the program: %w", err)
	}
	return nil
}
