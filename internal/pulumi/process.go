// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipeGrace is how long the output of an ended CLI is waited for: a process that
// it left behind may hold the pipe open for ever.
const pipeGrace = 2 * time.Second

// command is one call of the CLI.
type command struct {
	args  []string
	dir   string
	env   []string
	stdin string
	// pids is the file that the number of the process is added to.
	pids string
	// events are followed where there are any.
	events *follower
}

// exit is how a call of the CLI ended.
type exit struct {
	// code is the exit code, or -1 when a signal ended the process.
	code int
	// signal that ended the process, if any.
	signal string
	// stdout and stderr are bounded.
	stdout, stderr string
	// stopped says that the process was told to stop.
	stopped bool
}

// child is a running CLI.
type child struct {
	cmd *exec.Cmd
	// done is closed when the process has ended and its output has been read.
	done           chan struct{}
	stdout, stderr capture
}

// execute calls the CLI and waits for its end. When ctx is done it is stopped
// gently. The error says why the CLI could not be started at all.
func (d *Driver) execute(ctx context.Context, c command) (exit, error) {
	if ctx.Err() != nil {
		return exit{}, context.Cause(ctx)
	}
	p, err := d.start(c)
	if err != nil {
		return exit{}, workspaceError{fmt.Errorf("starting Pulumi: %w", err)}
	}
	working := func() bool { return false }
	read := make(chan struct{})
	if c.events == nil {
		close(read)
	} else {
		working = c.events.working.Load
		go func() {
			defer close(read)
			c.events.follow(p.done)
		}()
	}
	stopped := false
	select {
	case <-p.done:
	case <-ctx.Done():
		stopped = d.stop(p, working)
	}
	<-read
	return p.exit(stopped), nil
}

// start starts the CLI at the head of a process group of its own.
func (d *Driver) start(c command) (*child, error) {
	p := &child{cmd: exec.Command(filepath.Join(d.Bin, "pulumi"), c.args...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = c.dir, c.env
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if c.stdin != "" {
		p.cmd.Stdin = strings.NewReader(c.stdin)
	}
	p.cmd.WaitDelay = pipeGrace
	p.cmd.SysProcAttr = &syscall.SysProcAttr{
		// A signal to the controller's group must not reach the CLI: it would count
		// as the first, and ours as the second.
		Setpgid: true,
		// A controller that is killed cannot stop its runs. This way the kernel
		// tells them to finish what they have begun, save and unlock.
		Pdeathsig: syscall.SIGINT,
	}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		return p, err
	}
	if err := notePID(c.pids, p.cmd.Process.Pid); err != nil {
		// Only a controller that is killed before the end of the run would miss it.
		_ = p.cmd.Process.Kill()
		<-p.done
		return p, err
	}
	return p, nil
}

// notePID adds the number of a CLI process to the file. It takes the CLI longer
// to lock a stack than this takes, so a lock is always one of a process whose
// number is known.
func notePID(path string, pid int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("noting the number of the process: %w", err)
	}
	_, err = fmt.Fprintln(file, pid)
	return errors.Join(err, file.Close())
}

// byForce tells whether the process may have left its lock, or operations in
// flight, behind: by itself, or when it is told to stop once, it does not.
func (e exit) byForce() bool {
	return e.signal != "" || e.code == exitCancelled
}

// run holds one OS thread for as long as the process lives: the kernel sends the
// parent death signal when the thread that forked ends, and Go ends idle threads.
func (p *child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	awaitExit(p.cmd.Process.Pid)
	// What is left of the group goes with its leader, which is not reaped yet: its
	// number cannot be another group's.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	// The exit status is in the process state. Any other error is one of the
	// output, which nothing depends on.
	_ = p.cmd.Wait()
	close(p.done)
}

// awaitExit returns when the process has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		continue
	}
}

// exit tells how the process ended, once it is done.
func (p *child) exit(stopped bool) exit {
	e := exit{
		code:   p.cmd.ProcessState.ExitCode(),
		stdout: p.stdout.String(), stderr: p.stderr.String(),
		stopped: stopped,
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal().String()
	}
	return e
}
