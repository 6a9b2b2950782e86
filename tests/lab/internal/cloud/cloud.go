// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloud is the cloud of the lab provider: a directory with one file for each thing and an append-only journal of every
// operation. It knows files only; nothing of Pulumi belongs here.
//
//	<directory>/things/<id>.json   a thing that exists
//	<directory>/journal.jsonl      one Entry a line
//	<directory>/tmp/               files not yet in place, never to be counted
//	<directory>/released           there once operations that are held may continue
//	<directory>/told-to-stop       there once the engine has told the provider of such an operation to stop
//
// The files are the truth for what exists; the journal says what was attempted, when and by which process. A create records its
// "begin", with the id, before the file is made, and "done" after it. So a provider that is killed between any two of these
// steps leaves either a begin without a file (nothing was made) or a begin with a file (made, whatever the journal says after it):
// no thing is ever there without its id standing in the journal.
package cloud

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Cloud is one directory. It has no open files, so any number of processes may work in
// the same directory.
type Cloud struct {
	dir string
}

// New returns the cloud in a directory. The path must be absolute, because a provider
// process does not choose its working directory. The first operation creates the
// directory: a preview must leave no trace.
func New(dir string) (*Cloud, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("the directory of the cloud must be an absolute path, not %q", dir)
	}
	return &Cloud{dir: dir}, nil
}

func (c *Cloud) things() string { return filepath.Join(c.dir, "things") }

func (c *Cloud) tmp() string { return filepath.Join(c.dir, "tmp") }

func (c *Cloud) journal() string { return filepath.Join(c.dir, "journal.jsonl") }

// Released reports whether held operations may continue. Whoever watches the cloud decides
// that, with a file.
func (c *Cloud) Released() (bool, error) {
	_, err := os.Stat(filepath.Join(c.dir, "released"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// TellToStop records, with a file, that the engine has told a held operation to stop. The
// operation continues all the same.
func (c *Cloud) TellToStop() error {
	return os.WriteFile(filepath.Join(c.dir, "told-to-stop"), nil, 0o600)
}

func (c *Cloud) prepare() error {
	for _, dir := range []string{c.things(), c.tmp()} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return fmt.Errorf("preparing the cloud %s: %w", c.dir, err)
		}
	}
	return nil
}
