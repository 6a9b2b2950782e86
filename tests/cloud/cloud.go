// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloud reads the cloud of the lab provider (tests/lab), so that a test can say what really exists and what was really
// done. It needs the standard library only: the provider is a module of its own, with another Pulumi SDK, and cannot be imported
// here. The JSON shapes are a copy of the provider's; both sides are tested against the same files, tests/lab/testdata/cloud.
//
// The files are the truth for what exists, the journal for what was attempted. A provider that is killed between making a
// thing and recording it leaves a file whose create has a "begin" and no "done"; Created counts it.
package cloud

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Cloud is the directory that a program gave the provider as lab:directory.
type Cloud struct {
	dir string
}

// Open names the directory. It need not exist yet: a cloud in which nothing was done has no things and no journal.
func Open(dir string) *Cloud {
	return &Cloud{dir: dir}
}

// Created says how many things the provider ever made under a name, gone ones included. A thing made twice counts twice: each
// create has an id of its own. The name is the one given at the create, whatever the file was edited to say since. A thing
// whose provider was killed before it recorded "done" counts for as long as its file is there.
func (c *Cloud) Created(name string) (int, error) {
	// The journal is read last: a create records itself before it makes its file, so every file seen here has its entry there.
	things, err := c.Things()
	if err != nil {
		return 0, err
	}
	journal, err := c.Journal()
	if err != nil {
		return 0, err
	}
	exists := map[string]bool{}
	for _, thing := range things {
		exists[thing.ID] = true
	}
	made := map[string]bool{}
	for _, entry := range journal {
		if entry.Op == Create && entry.Name == name && (entry.Phase == Done || exists[entry.ID]) {
			made[entry.ID] = true
		}
	}
	return len(made), nil
}

// Release lets the operations go on that are held, and those to come.
func (c *Cloud) Release() error {
	if err := os.MkdirAll(c.dir, 0o750); err != nil {
		return fmt.Errorf("releasing what is held in %s: %w", c.dir, err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "released"), nil, 0o600); err != nil {
		return fmt.Errorf("releasing what is held: %w", err)
	}
	return nil
}

// toldToStop is the file that a provider makes.
const toldToStop = "told-to-stop"

// ToldToStop says whether the engine has told an operation that is held to stop, or has died. It goes on when it is released,
// but the engine begins nothing after it.
func (c *Cloud) ToldToStop() (bool, error) {
	_, err := os.Stat(filepath.Join(c.dir, toldToStop))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// files gives the names of the files of things/ that are things.
func (c *Cloud) files() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(c.dir, "things"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the things of %s: %w", c.dir, err)
	}
	var names []string
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".json" {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
