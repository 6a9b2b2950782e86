// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// guardCommand is the argument that makes this program the guard of a directory.
const guardCommand = "guard"

// guard is a second process of this program that cleans up after the first, even if that
// is killed. The kernel ends what the demo has started, but not what Pulumi has: a Pulumi
// without a reader dies of SIGPIPE at its next output, and its language host and
// providers live on.
type guard struct {
	process *exec.Cmd
	// alive is the pipe that is closed when the demo ends.
	alive io.Closer
}

// startGuard starts the guard of a folder.
func startGuard(dir string) (*guard, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	command := exec.Command(self, guardCommand, dir)
	command.Stderr = os.Stderr
	// Detached from the terminal, so that only the demo gets Ctrl-C.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	alive, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting the guard of %s: %w", dir, err)
	}
	return &guard{process: command, alive: alive}, nil
}

// clean makes the guard clean up and waits for it.
func (g *guard) clean() error {
	if err := errors.Join(g.alive.Close(), g.process.Wait()); err != nil {
		return fmt.Errorf("cleaning up: %w", err)
	}
	return nil
}

// keepGuard runs the guard: it waits for the end of the demo, ends the processes that
// still use the directory, and removes it.
func keepGuard(dir string) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return fmt.Errorf("waiting for the end of the demo: %w", err)
	}
	if err := endProcesses(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
