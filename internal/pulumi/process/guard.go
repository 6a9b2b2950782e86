// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// guardScript waits for a line. End of input without one means that this process died,
// whatever killed it.
const guardScript = `read _ || kill -INT "$1"`

// guard is a shell that outlives this process and then interrupts the guarded one,
// since nobody else would bound it any more: the CLI of Pulumi then finishes what it has
// started, saves and unlocks.
//
// The kernel's parent death signal does not work for this. As the threads of the parent
// die, each thread that the child is handed to sends it, so the child gets it more than
// once (measured: one or two times, by chance), and the second signal makes Pulumi give up
// the operations in flight.
type guard struct {
	cmd  *exec.Cmd
	line *os.File
	once sync.Once
}

// newGuard guards a process that has not been reaped.
func newGuard(pid int) (*guard, error) {
	input, line, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guarding the run: %w", err)
	}
	defer func() { _ = input.Close() }() // the shell has its own copy
	g := &guard{cmd: exec.Command("/bin/sh", "-c", guardScript, "guard", strconv.Itoa(pid)), line: line}
	g.cmd.Stdin = input
	g.cmd.Env = []string{}
	// A signal to the controller's group must not reach the guard.
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := g.cmd.Start(); err != nil {
		_ = line.Close() // nobody reads it
		return nil, fmt.Errorf("guarding the run: %w", err)
	}
	return g, nil
}

// dismiss ends the guard, once. It must precede the reaping of the guarded process,
// whose PID could otherwise be another one's.
func (g *guard) dismiss() {
	g.once.Do(func() {
		// These fail only if the guard is already gone, which is fine.
		_, _ = g.line.WriteString("\n")
		_ = g.line.Close()
		_ = g.cmd.Wait()
	})
}
