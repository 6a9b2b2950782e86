// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloud reads the fake cloud of the lab provider (tests/lab), so that tests can check what exists and what was done. It uses
// only the standard library: the provider is a separate module with another Pulumi SDK and cannot be imported here. The JSON types
// copy the provider's; both sides are tested against the same files, tests/lab/testdata/cloud.
//
// The files show what exists, the journal what was attempted. A provider killed between making a thing and recording it leaves
// a file whose create has a "begin" and no "done"; Created counts it.
package cloud

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Cloud is the directory that a program passed to the provider as lab:directory.
type Cloud struct {
	dir string
}

// Open returns the cloud in a directory, which need not exist yet: an unused cloud has no things and no journal.
func Open(dir string) *Cloud {
	return &Cloud{dir: dir}
}

// Created returns how many things the provider ever made under a name, including deleted ones. A thing made twice counts twice:
// each create has its own ID. The name is the one given on create, even if the file was edited since. A thing whose provider was
// killed before it recorded "done" counts while its file exists.
func (c *Cloud) Created(name string) (int, error) {
	// Read the journal last: a create is recorded before its file is made, so every file seen here has its entry.
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

// Release lets held operations continue, and stops holding later ones.
func (c *Cloud) Release() error {
	if err := os.MkdirAll(c.dir, 0o750); err != nil {
		return fmt.Errorf("releasing what is held in %s: %w", c.dir, err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "released"), nil, 0o600); err != nil {
		return fmt.Errorf("releasing what is held: %w", err)
	}
	return nil
}

// toldToStop is the file that the provider makes when the engine tells it to stop.
const toldToStop = "told-to-stop"

// ToldToStop returns whether the engine has told a held operation to stop, or has died. The operation continues when released,
// but the engine starts nothing after it.
func (c *Cloud) ToldToStop() (bool, error) {
	_, err := os.Stat(filepath.Join(c.dir, toldToStop))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// files returns the names of the files in things/ that describe things.
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
