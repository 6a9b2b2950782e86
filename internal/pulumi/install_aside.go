// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// setAside moves what Python can import out of the workspace, and returns what moves it back.
//
// The language host calls python -m venv and python -m pip in the directory of the program, where
// Python looks for modules first: a pip.py or a logging.py of one program would decide what is
// kept for all programs with the same requirements.
func setAside(root *os.Root, dir string) (back func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a directory for the code of the program: %w", err)
	}
	var moved []string
	at := func(i int) string { return filepath.Join(dir, strconv.Itoa(i)) }
	back = func() error {
		var errs []error
		for i, name := range moved {
			errs = append(errs, os.Rename(at(i), filepath.Join(root.Name(), name)))
		}
		return errors.Join(append(errs, os.Remove(dir))...)
	}
	isCode := regexp.MustCompile(`\.(py|pyc|so)$`)
	err = fs.WalkDir(root.FS(), ".", func(name string, found fs.DirEntry, err error) error {
		if err != nil || found.IsDir() || !isCode.MatchString(name) {
			return err
		}
		if err := os.Rename(filepath.Join(root.Name(), name), at(len(moved))); err != nil {
			return err
		}
		moved = append(moved, name)
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("moving the code of the program aside: %w", err), back())
	}
	return back, nil
}
