// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// readFile reads a regular file. It never waits, as for the writer of a pipe, nor
// has any effect, as opening a device may. The files of /proc look regular, and
// have the environments of other runs.
func readFile(path string) (string, error) {
	if info, err := os.Stat(path); err != nil {
		return "", reasonOf(err)
	} else if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	// What is there may have been replaced since: it is looked at again.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", reasonOf(err)
	}
	defer func() { _ = file.Close() }() // it is only read
	var system unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &system); err != nil {
		return "", reasonOf(err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", reasonOf(err)
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	case int64(system.Type) == unix.PROC_SUPER_MAGIC:
		return "", errors.New("it belongs to the processes of the machine")
	}
	text, err := io.ReadAll(io.LimitReader(file, maxValues+1))
	if err != nil {
		return "", reasonOf(err)
	}
	if len(text) > maxValues {
		return "", fmt.Errorf("it is longer than %d bytes", maxValues)
	}
	return string(text), nil
}
