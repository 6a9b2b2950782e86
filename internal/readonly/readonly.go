// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package readonly removes trees of files with read-only directories, such as Go's module cache.
package readonly

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAll is os.RemoveAll for trees in which it may not remove files: it makes their directories writable.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walked := filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return os.Chmod(path, 0o700)
	})
	return errors.Join(walked, os.RemoveAll(path))
}
