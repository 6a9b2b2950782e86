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

// First is what the first process of a container has to do, which no image of a user
// need have a program for: it starts this program once more, hands signals on to
// it, and takes the entries of processes that have ended and were left by their
// parents. It returns the exit code when the program has ended.
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

// isToEnd tells whether a signal is to end the container: an image may have any as its
// STOPSIGNAL. Those that are not come from the kernel and from the runtime of Go.
func isToEnd(s os.Signal) bool { return s != syscall.SIGCHLD && s != syscall.SIGURG }

// CopyTo copies this program into a directory, for another image to run it.
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
