// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// writeTrees writes the contents of each layer to a directory of that name. The directory
// must not exist: leftovers of an earlier version would stay in it. All entries have the
// same time, which COPY keeps: the layer is the same only if the times are.
func writeTrees(root string, layers []layer, created time.Time) error {
	for _, l := range layers {
		dir := filepath.Join(root, l.name)
		if err := os.MkdirAll(root, 0o755); err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for _, e := range l.entries {
			if err := e.write(filepath.Join(dir, e.path)); err != nil {
				return fmt.Errorf("writing /%s: %w", e.path, err)
			}
		}
		// A directory precedes its contents, and writing these changes its time.
		for _, e := range slices.Backward(l.entries) {
			if err := setTime(filepath.Join(dir, e.path), created); err != nil {
				return fmt.Errorf("setting the time of /%s: %w", e.path, err)
			}
		}
	}
	return nil
}

// setTime sets the time of a link itself, whereas os.Chtimes follows it.
func setTime(path string, to time.Time) error {
	spec, err := unix.TimeToTimespec(to)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{spec, spec}, unix.AT_SYMLINK_NOFOLLOW)
}

// write writes the entry to the file system.
func (e entry) write(to string) error {
	switch {
	case e.mode.IsDir():
		if err := os.Mkdir(to, 0o700); err != nil {
			return err
		}
	case e.mode&fs.ModeSymlink != 0:
		return os.Symlink(e.link, to)
	default:
		if err := e.writeFile(to); err != nil {
			return err
		}
	}
	return os.Chmod(to, e.mode) // whatever the umask is
}

func (e entry) writeFile(to string) error {
	from, _, err := e.open()
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // read only
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
