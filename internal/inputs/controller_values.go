// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fluxcd/pkg/runtime/acl"
	"golang.org/x/sys/unix"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Controller is what the references of the types Env and FS read: the controller
// itself. Whoever may write a Stack can then read all that the controller can.
type Controller struct {
	// LookupEnv finds a variable of the environment.
	LookupEnv func(name string) (string, bool)
}

// value returns what the reference stands for. Without a controller to read it is
// refused.
func (c *Controller) value(ref reference) (value, error) {
	if c == nil {
		return value{}, fmt.Errorf("%s: %w", ref.field, acl.AccessDeniedError(fmt.Sprintf(
			"type %s reads the controller itself, which has not been allowed: use type Secret, or run the controller with --allow-controller-refs",
			ref.ref.Type)))
	}
	if ref.ref.Type == v1.ResourceRefEnv {
		name := ref.ref.Env.Name
		text, ok := c.LookupEnv(name)
		if !ok {
			return value{}, &UnusableError{ref.field, fmt.Sprintf("the controller has no environment variable %q", name)}
		}
		return value{text: text, controller: "Env:" + name, hidden: true}, nil
	}
	path := ref.ref.FileSystem.Path
	text, err := readFile(path)
	if err != nil {
		return value{}, &UnusableError{ref.field, fmt.Sprintf("the file %q of the controller cannot be used: %s", path, err)}
	}
	return value{text: text, controller: "FS:" + filepath.Clean(path), hidden: true}, nil
}

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

// reasonOf is the error without the path, which is told already.
func reasonOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
