// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// folder is a directory into which this process writes while a program runs that can write there, too: nothing that
// the program leaves in it or in place of it leads elsewhere, or makes this process wait.
type folder struct{ root *os.Root }

// openFolder makes a directory, or takes the one that is there. Only its parent has to be where its name says.
func openFolder(dir string) (folder, error) {
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return folder{}, fmt.Errorf("opening the directory of the run: %w", err)
	}
	defer func() { _ = parent.Close() }() // nothing is buffered
	name := filepath.Base(dir)
	if info, err := parent.Lstat(name); err == nil && !info.IsDir() {
		if err := parent.Remove(name); err != nil {
			return folder{}, fmt.Errorf("making a directory for tokens: %w", err)
		}
	}
	if err := parent.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return folder{}, fmt.Errorf("making a directory for tokens: %w", err)
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return folder{}, fmt.Errorf("making a directory for tokens: %w", err)
	}
	return folder{root}, nil
}

// replace atomically writes a file that only its owner may read: a client reading it
// meanwhile gets the old one.
func (f folder) replace(name string, content []byte) error {
	if err := f.write(name+".next", content); err != nil {
		return fmt.Errorf("writing the token of the run: %w", err)
	}
	if err := f.root.Rename(name+".next", name); err != nil {
		return fmt.Errorf("writing the token of the run: %w", err)
	}
	return nil
}

// write writes a file that was not there: opening a pipe would wait for its reader, and a hard link may be to
// another file.
func (f folder) write(name string, content []byte) error {
	if err := f.root.RemoveAll(name); err != nil {
		return err
	}
	file, err := f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// close leaves the files.
func (f folder) close() { _ = f.root.Close() } // nothing is buffered
