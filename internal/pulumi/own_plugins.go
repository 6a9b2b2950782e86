// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// In a sandbox, a run only reads the plugins that all runs share, because other runs execute them. It
// has a directory of plugins of its own with links to those, into which Pulumi downloads what is
// missing. It is not in the home of the run, where a program could put a link in its place. What a run has
// downloaded never gets out of its directory: see share_plugins.go.

// maxOwnPlugins bounds how many entries of that directory are looked at.
const maxOwnPlugins = 4000

// hasOwnPlugins reports whether runs have plugins of their own.
func (d *Driver) hasOwnPlugins() bool { return d.Sandbox != nil && !d.NoPluginDownload }

// sharedPlugins is the directory of the plugins that all runs execute.
func (d *Driver) sharedPlugins() string { return filepath.Join(d.Cache, "plugins") }

// pluginsOf is the directory of the plugins that Pulumi finds for a run.
func (d *Driver) pluginsOf(dir Directory) string {
	if d.hasOwnPlugins() {
		return dir.plugins()
	}
	return d.sharedPlugins()
}

// linkPlugins makes the directory of the plugins of the run. Pulumi does not accept a link as the
// directory of a plugin, so its contents are linked. What an earlier program has left there is removed.
func (d Directory) linkPlugins(shared string) error {
	if err := errors.Join(remove(d.plugins()), os.Mkdir(d.plugins(), 0o700), os.MkdirAll(shared, 0o700)); err != nil {
		return fmt.Errorf("linking the plugins: %w", err)
	}
	entries, err := os.ReadDir(shared)
	if err != nil {
		return fmt.Errorf("linking the plugins: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() || isPartial(shared, entry.Name()) {
			continue
		}
		if err := linkPlugin(filepath.Join(shared, entry.Name()), filepath.Join(d.plugins(), entry.Name())); err != nil {
			return fmt.Errorf("linking the plugin %s: %w", entry.Name(), err)
		}
	}
	return d.linkInHome("plugins", d.plugins())
}

// isPartial reports whether the installation of a plugin is not complete: Pulumi makes this file before it.
func isPartial(plugins, name string) bool {
	_, err := os.Lstat(filepath.Join(plugins, name+".partial"))
	return !errors.Is(err, fs.ErrNotExist)
}

func linkPlugin(from, to string) error {
	files, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil // lost+found of a volume, or a plugin that was just removed
	}
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Symlink(filepath.Join(from, file.Name()), filepath.Join(to, file.Name())); err != nil {
			return err
		}
	}
	return nil
}

// ownPluginNames are the names of the plugins of a run, as the program has left them.
func (d Directory) ownPluginNames() ([]string, error) {
	dir, err := os.Open(d.plugins())
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // only read
	entries, err := dir.ReadDir(maxOwnPlugins)
	if err != nil {
		return nil, err
	}
	return namesOf(slices.DeleteFunc(entries, func(entry os.DirEntry) bool { return !entry.IsDir() })), nil
}

func namesOf(entries []os.DirEntry) []string {
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
