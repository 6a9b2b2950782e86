// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"

	"golang.org/x/sys/unix"
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
	aside, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the directory for the code of the program: %w", err)
	}
	var moved []string
	back = func() error {
		var errs []error
		for i, name := range moved {
			errs = append(errs, moveInto(root, name, aside, strconv.Itoa(i)))
		}
		return errors.Join(append(errs, aside.Close(), os.Remove(dir))...)
	}
	isCode := regexp.MustCompile(`\.(py|pyc|so)$`)
	err = fs.WalkDir(root.FS(), ".", func(name string, found fs.DirEntry, err error) error {
		if err != nil || found.IsDir() || !isCode.MatchString(name) {
			return err
		}
		if err := moveInto(aside, strconv.Itoa(len(moved)), root, name); err != nil {
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

// moveInto moves a file from one root to another. What an installation has made of the directories in between, such
// as links, does not lead out of the roots.
func moveInto(to *os.Root, name string, from *os.Root, old string) error {
	target, err := to.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }() // only a directory
	source, err := from.Open(path.Dir(old))
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // only a directory
	err = unix.Renameat(int(source.Fd()), path.Base(old), int(target.Fd()), path.Base(name))
	if err != nil {
		return &os.PathError{Op: "moving", Path: name, Err: err}
	}
	return nil
}
