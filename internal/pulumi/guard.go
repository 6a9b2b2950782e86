// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// guardScript waits for a line. The end of its input without one is the death of
// this process, whatever killed it.
const guardScript = `read _ || kill -INT "$1"`

// guard is a shell that outlives this process, and then tells the CLI to finish
// what it has begun, save and unlock: nobody else would bound it any more. The
// kernel's parent death signal is no use for that. It is sent by each thread
// that the child is handed to while the threads of the parent die, so that the
// CLI gets it more than once (measured: one or two times, by chance), and the
// second signal makes it give up what is in flight.
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
	// A signal to the controller's group must not reach it.
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := g.cmd.Start(); err != nil {
		_ = line.Close() // nobody reads it
		return nil, fmt.Errorf("guarding the run: %w", err)
	}
	return g, nil
}

// dismiss ends the guard, once. The guarded process may be reaped after it, and
// not before: its number could belong to another one.
func (g *guard) dismiss() {
	g.once.Do(func() {
		// None can fail but where the guard is gone already, which is the aim.
		_, _ = g.line.WriteString("\n")
		_ = g.line.Close()
		_ = g.cmd.Wait()
	})
}
