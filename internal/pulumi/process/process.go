// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package process supervises the processes of a run: each is the leader of a process group
// of its own, writes to bounded files and not to pipes, and is warned by a guard if this
// process dies. It finds processes by a mark in their environment, whoever their parent is.
// What the processes do, and when they are to end, must not be decided here.
package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Command is a program to be started.
type Command struct {
	// Path of the program.
	Path  string
	Args  []string
	Dir   string
	Env   []string
	Stdin string
	// PIDs is the file to which the process appends its PID, as one that may hold a lock.
	PIDs string
	// Stdout and Stderr are the paths of the output files. Those without a path are in memory.
	Stdout, Stderr string
	// Capture, if set, receives stdout instead of the file. It is for a program that only
	// reads, because such a program may die with this process.
	Capture io.Writer
	// Restrict, if set, is called on the thread that starts the process, and restricts it, the process
	// and all that this starts. No other thread of this process is restricted.
	Restrict func() error
	// Warn receives why the process has no guard, which only matters if this process is
	// killed.
	Warn func(error)
}

// Exit is how a process ended.
type Exit struct {
	// Code is the exit code, or -1 if a signal ended the process.
	Code int
	// Signal is the signal that ended the process, if any.
	Signal string
	// Stdout and Stderr are bounded.
	Stdout, Stderr Printed
}

// Child is a running process.
type Child struct {
	cmd *exec.Cmd
	// guard is nil if none could be started.
	guard *guard
	// done is closed when the process has ended.
	done           chan struct{}
	stdout, stderr *output
}

// noteScript writes its PID and then becomes the program, which keeps that PID. If the
// controller wrote the PID after the start and was killed in between, the PID would be
// missing, and the lock that the program leaves could not be attributed.
//
// It becomes the program when the gate is opened: fd 4 ends.
const noteScript = `echo $$ >&3 || exit 125; read _ <&4; exec "$0" "$@" 3>&- 4<&-`

// ExitNotNoted is the exit code if the PID could not be written.
const ExitNotNoted = 125

// Start starts the program as the leader of a process group of its own. The caller closes
// the child when it has read its Exit.
func Start(c Command) (*Child, error) {
	program, err := exec.LookPath(c.Path)
	if err != nil {
		return nil, err
	}
	pids, err := os.OpenFile(c.PIDs, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("recording the process ID: %w", err)
	}
	defer func() { _ = pids.Close() }() // the process has its own
	p := &Child{cmd: exec.Command("/bin/sh", append([]string{"-c", noteScript, program}, c.Args...)...), done: make(chan struct{})}
	gate, opener, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the process: %w", err)
	}
	defer func() { _ = gate.Close() }() // the process has its own
	defer func() { _ = opener.Close() }()
	p.cmd.ExtraFiles = []*os.File{pids, gate}
	if p.stdout, err = newOutput(c.Stdout); err != nil {
		return nil, err
	}
	if p.stderr, err = newOutput(c.Stderr); err != nil {
		p.stdout.close()
		return nil, err
	}
	p.cmd.Dir, p.cmd.Env = c.Dir, c.Env
	p.cmd.Stdout, p.cmd.Stderr = p.stdout.file, p.stderr.file
	if c.Capture != nil {
		p.cmd.Stdout = c.Capture
		p.cmd.WaitDelay = time.Second
	}
	if c.Stdin != "" {
		p.cmd.Stdin = strings.NewReader(c.Stdin)
		// Do not wait for a program that ends without reading its input.
		p.cmd.WaitDelay = time.Second
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{
		// A signal to the controller's group must not reach the process: it would count as
		// the first, and ours as the second.
		Setpgid: true,
	}
	if err := p.start(c.Restrict); err != nil {
		p.Close()
		return nil, err
	}
	_ = opener.Close() // the gate is open
	if p.guard, err = newGuard(p.cmd.Process.Pid); err != nil {
		c.Warn(err)
	}
	go p.reap()
	return p, nil
}

func (p *Child) start(restrict func() error) error {
	if restrict == nil {
		return p.cmd.Start()
	}
	return startRestricted(p.cmd, restrict)
}

// Close closes the files of the output.
func (p *Child) Close() {
	p.stdout.close()
	p.stderr.close()
}

// reap waits for the process to end.
func (p *Child) reap() {
	awaitExit(p.cmd.Process.Pid)
	// Kill the rest of the group before reaping its leader: until then its PID cannot
	// be another group's.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	p.Unguard()
	// The exit status is in the process state. Any other error concerns standard input
	// and does not matter.
	_ = p.cmd.Wait()
	close(p.done)
}

// Unguard lets the process continue undisturbed if this process dies.
func (p *Child) Unguard() {
	if p.guard != nil {
		p.guard.dismiss()
	}
}

// awaitExit waits for the process to end, without reaping it.
func awaitExit(pid int) {
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		continue
	}
}

// Shrink frees what is too much of the output files.
func (p *Child) Shrink() {
	p.stdout.shrink()
	p.stderr.shrink()
}

// Exit is how the process ended, once it is done.
func (p *Child) Exit() Exit {
	e := Exit{Code: p.cmd.ProcessState.ExitCode(), Stdout: p.stdout.printed(), Stderr: p.stderr.printed()}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal().String()
	}
	return e
}
