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

// readFile reads a regular file. Opening a pipe might block and opening a device might
// have side effects, so it refuses both. It also refuses /proc, whose files look regular
// but hold the environments of other runs.
func readFile(path string) (string, error) {
	if info, err := os.Stat(path); err != nil {
		return "", reasonOf(err)
	} else if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	// The file may have been replaced since the check, so the open file is checked again.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", reasonOf(err)
	}
	defer func() { _ = file.Close() }() // opened for reading only
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
		return "", errors.New("it describes processes of the machine")
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
