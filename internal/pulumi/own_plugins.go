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
	"slices"
)

// In a sandbox, a run only reads the plugins that all runs share, because other runs execute them. It
// has a directory of plugins of its own with links to those, into which Pulumi downloads what is
// missing. What a run has downloaded never gets out of its directory: see share_plugins.go.

const (
	// ownPlugins is the directory of the plugins of a run, in its home.
	ownPlugins = ".pulumi/plugins"
	// maxOwnPlugins bounds how many entries of that directory are looked at.
	maxOwnPlugins = 4000
)

// hasOwnPlugins reports whether runs have plugins of their own.
func (d *Driver) hasOwnPlugins() bool { return d.Sandbox != nil && !d.NoPluginDownload }

// sharedPlugins is the directory of the plugins that all runs execute.
func (d *Driver) sharedPlugins() string { return filepath.Join(d.Cache, "plugins") }

// linkPlugins makes the directory of the plugins of the run. Pulumi does not accept a link as the
// directory of a plugin, so its contents are linked. A program may have changed its home before.
func (d Directory) linkPlugins(shared string) error {
	root, err := os.OpenRoot(d.home())
	if err != nil {
		return fmt.Errorf("linking the plugins: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is buffered
	if info, err := root.Lstat(ownPlugins); err == nil && !info.IsDir() {
		if err := root.Remove(ownPlugins); err != nil {
			return fmt.Errorf("linking the plugins: %w", err)
		}
	}
	if err := errors.Join(root.MkdirAll(ownPlugins, 0o700), os.MkdirAll(shared, 0o700)); err != nil {
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
		if err := linkPlugin(root, filepath.Join(shared, entry.Name()), path.Join(ownPlugins, entry.Name())); err != nil {
			return fmt.Errorf("linking the plugin %s: %w", entry.Name(), err)
		}
	}
	return nil
}

// isPartial reports whether the installation of a plugin is not complete: Pulumi makes this file before it.
func isPartial(plugins, name string) bool {
	_, err := os.Lstat(filepath.Join(plugins, name+".partial"))
	return !errors.Is(err, fs.ErrNotExist)
}

func linkPlugin(root *os.Root, from, to string) error {
	files, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil // lost+found of a volume, or a plugin that was just removed
	}
	if err != nil {
		return err
	}
	if err := root.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, file := range files {
		err := root.Symlink(filepath.Join(from, file.Name()), path.Join(to, file.Name()))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// ownPluginNames are the names of the plugins of a run, as the program has left them.
func (d Directory) ownPluginNames() ([]string, error) {
	root, err := os.OpenRoot(d.home())
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing is buffered
	dir, err := root.Open(ownPlugins)
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
