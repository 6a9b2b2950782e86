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

// guardCommand is the argument that makes this program the guard of a folder.
const guardCommand = "guard"

// guard is a second process of this program that cleans up after the first, also
// when that one is killed. The kernel ends what the demo has started with it, but
// not what Pulumi has: a Pulumi whose reader is gone dies of SIGPIPE at its next
// word, and its language host and providers live on.
type guard struct {
	process *exec.Cmd
	// alive is the pipe whose end tells the guard that the demo has ended.
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
	// Away from the terminal, so that Ctrl-C is the demo's.
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

// clean has the guard do its work and waits for it.
func (g *guard) clean() error {
	if err := errors.Join(g.alive.Close(), g.process.Wait()); err != nil {
		return fmt.Errorf("cleaning up: %w", err)
	}
	return nil
}

// keepGuard is what the guard does: it waits for the end of the demo, ends the
// processes that still use the folder, and removes it.
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
