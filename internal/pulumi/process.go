// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// command is one CLI call, or one of a language tool.
type command struct {
	// tool is the path of the language tool, empty for the CLI.
	tool  string
	args  []string
	dir   string
	env   []string
	stdin string
	// pids is the file to which the process appends its PID, as one that may hold a lock.
	pids string
	// stdout and stderr are the paths of the output files.
	stdout, stderr string
	// capture, if set, receives stdout instead of the file. It is for a CLI that only
	// reads, because such a CLI may die with this process.
	capture io.Writer
	// atOnce marks a call with nothing to finish when it is told to stop.
	atOnce bool
	// abort is closed when a stopping process must not wait for operations in flight.
	abort <-chan struct{}
	// events follows the event log. It is set even for a call that writes none.
	events *follower
}

// exit is how a CLI call ended.
type exit struct {
	// tool is the language tool that was called, empty for the CLI.
	tool string
	// code is the exit code, or -1 if a signal ended the process.
	code int
	// signal is the signal that ended the process, if any.
	signal string
	// stdout and stderr are bounded.
	stdout, stderr printed
	// stopped is set if the process was told to stop.
	stopped bool
}

// child is a running CLI process.
type child struct {
	cmd *exec.Cmd
	// guard is nil if none could be started.
	guard *guard
	// done is closed when the process has ended.
	done           chan struct{}
	stdout, stderr *output
}

// execute calls the CLI and waits for it to end. When ctx is done, it stops the CLI
// gently. The error says why the CLI could not be started.
func (d *Driver) execute(ctx context.Context, c command) (exit, error) {
	if ctx.Err() != nil {
		return exit{}, context.Cause(ctx)
	}
	p, err := d.start(c)
	if err != nil {
		return exit{}, workspaceError{fmt.Errorf("starting %s: %w", cmp.Or(c.tool, "Pulumi"), err)}
	}
	defer p.close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.watch(c.events)
	}()
	stopped := false
	select {
	case <-p.done:
	case <-ctx.Done():
		stopped = d.stop(p, c)
	}
	<-read
	ended := p.exit(stopped)
	if c.tool != "" {
		ended.tool = filepath.Base(c.tool)
	}
	if ended.code == exitNotNoted {
		return exit{}, workspaceError{fmt.Errorf("noting the number of the process: %s", tidy(ended.stderr.text))}
	}
	return ended, nil
}

// watch reads events and keeps the files small while the CLI runs.
func (p *child) watch(events *follower) {
	defer events.close()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-p.done:
			events.poll()
			return
		case <-ticker.C:
			events.poll()
			p.stdout.shrink()
			p.stderr.shrink()
			ticker.Reset(events.interval())
		}
	}
}

// noteScript writes its PID and then becomes the CLI, which keeps that PID. If the
// controller wrote the PID after the start and was killed in between, the PID would be
// missing, and the lock that the CLI leaves could not be attributed.
const noteScript = `echo $$ >&3 || exit 125; exec "$0" "$@" 3>&-`

// exitNotNoted is the exit code of noteScript on failure, which the CLI does not use.
const exitNotNoted = 125

// start starts the CLI as the leader of a process group of its own.
func (d *Driver) start(c command) (*child, error) {
	program, err := exec.LookPath(cmp.Or(c.tool, filepath.Join(d.Bin, "pulumi")))
	if err != nil {
		return nil, err
	}
	pids, err := os.OpenFile(c.pids, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("noting the number of the process: %w", err)
	}
	defer func() { _ = pids.Close() }() // the process has its own
	p := &child{cmd: exec.Command("/bin/sh", append([]string{"-c", noteScript, program}, c.args...)...), done: make(chan struct{})}
	p.cmd.ExtraFiles = []*os.File{pids}
	if p.stdout, err = newOutput(c.stdout); err != nil {
		return nil, err
	}
	if p.stderr, err = newOutput(c.stderr); err != nil {
		p.stdout.close()
		return nil, err
	}
	p.cmd.Dir, p.cmd.Env = c.dir, c.env
	p.cmd.Stdout, p.cmd.Stderr = p.stdout.file, p.stderr.file
	if c.capture != nil {
		p.cmd.Stdout = c.capture
		p.cmd.WaitDelay = time.Second
	}
	if c.stdin != "" {
		p.cmd.Stdin = strings.NewReader(c.stdin)
		// Do not wait for a CLI that ends without reading its input.
		p.cmd.WaitDelay = time.Second
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{
		// A signal to the controller's group must not reach the CLI: it would count as
		// the first, and ours as the second.
		Setpgid: true,
	}
	if err := p.cmd.Start(); err != nil {
		p.close()
		return nil, err
	}
	if p.guard, err = newGuard(p.cmd.Process.Pid); err != nil {
		// The guard only matters if the controller is killed.
		c.events.say(err.Error())
	}
	go p.reap()
	return p, nil
}

// byForce tells whether the process may have left its lock or operations in flight
// behind. It does not when it ends by itself or after a single signal.
func (e exit) byForce() bool {
	return e.signal != "" || e.code == exitCancelled
}

func (p *child) close() {
	p.stdout.close()
	p.stderr.close()
}

// reap waits for the process to end.
func (p *child) reap() {
	awaitExit(p.cmd.Process.Pid)
	// Kill the rest of the group before reaping its leader: until then its PID cannot
	// be another group's.
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	p.unguard()
	// The exit status is in the process state. Any other error concerns standard input
	// and does not matter.
	_ = p.cmd.Wait()
	close(p.done)
}

// unguard lets the CLI go on undisturbed if this process dies.
func (p *child) unguard() {
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

// exit is how the process ended, once it is done.
func (p *child) exit(stopped bool) exit {
	e := exit{
		code:   p.cmd.ProcessState.ExitCode(),
		stdout: p.stdout.printed(), stderr: p.stderr.printed(),
		stopped: stopped,
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal().String()
	}
	return e
}
