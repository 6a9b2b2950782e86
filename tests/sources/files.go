// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package sources serves what Flux sources pull from, over the real protocols on the loopback address: a git server, an
// OCI registry and an S3 server. Tests, the demo and the benchmark use it, so it must not import testing, and it knows
// nothing of Stacks.
package sources

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const loopback = "127.0.0.1"

// Files maps slash-separated relative paths to contents.
type Files map[string]string

// ReadDir returns every regular file under dir.
func ReadDir(dir string) (Files, error) {
	files := Files{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the files of %s: %w", dir, err)
	}
	return files, nil
}

// Write creates the files under dir. A path that would leave dir is an error.
func (f Files) Write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("writing files to %s: %w", dir, err)
	}
	defer func() { _ = root.Close() }()
	for name, content := range f {
		path := filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("making the directory of %s: %w", name, err)
		}
		if err := root.WriteFile(path, []byte(content), 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}
