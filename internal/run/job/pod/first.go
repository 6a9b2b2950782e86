// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// First does what process 1 of a container has to do, since the image of a user need not
// contain an init program: it starts this program again, forwards signals to it, and
// reaps orphaned processes. It returns the exit code of that program.
func First() (int, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("finding this program: %w", err)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals)
	pid, err := syscall.ForkExec(program, os.Args, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
	})
	if err != nil {
		return 0, fmt.Errorf("starting the runner: %w", err)
	}
	go func() {
		for s := range signals {
			if isToEnd(s) {
				_ = syscall.Kill(pid, syscall.SIGTERM) // no error but that it has ended
			}
		}
	}()
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("waiting for the runner: %w", err)
		case ended != pid:
			continue
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		case status.Exited():
			return status.ExitStatus(), nil
		}
	}
}

// isToEnd reports whether a signal asks the container to end: an image may have any
// STOPSIGNAL. The two others come from the kernel and the Go runtime.
func isToEnd(s os.Signal) bool { return s != syscall.SIGCHLD && s != syscall.SIGURG }

// CopyTo copies this program into a directory, from where another image runs it.
func CopyTo(dir string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	from, err := os.Open(program)
	if err != nil {
		return fmt.Errorf("copying the runner: %w", err)
	}
	defer func() { _ = from.Close() }() // it is only read
	to, err := os.OpenFile(filepath.Join(dir, "pulumi-controller"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return fmt.Errorf("copying the runner: %w", err)
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("copying the runner: %w", err)
	}
	return nil
}
