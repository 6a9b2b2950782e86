// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package process starts and ends the programs that tests, the demo and the benchmark run beside themselves, so that
// none of them outlives its parent, however it ends. It knows no particular program, and it must not import testing: the
// demo uses it. It works on Linux only, because only Linux can tie the life of a child to that of its parent.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	defaultGrace = 10 * time.Second
	// tailBytes bounds how much of a log an error message quotes.
	tailBytes = 4 << 10
)

// Spec says what to start.
type Spec struct {
	// Name is what error messages call the process.
	Name string
	// Path is the program, as FindBin returns it.
	Path string
	Args []string
	// Env is the whole environment; nil means the parent's own.
	Env []string
	// Dir is the working directory; empty means the parent's own.
	Dir string
	// Log is the file that standard output and standard error are appended to. Required: a file, unlike a pipe, needs
	// no goroutine to empty it and is not held open by a child that outlives the process.
	Log string
	// Grace is how long Stop waits between SIGTERM and SIGKILL. Zero means 10 seconds.
	Grace time.Duration
}

// Process is a started program, the leader of a process group of its own. Its methods may be called from any goroutine,
// any number of times.
type Process struct {
	spec Spec
	cmd  *exec.Cmd
	done chan struct{}
	err  error // written before done is closed
	// signalling keeps a signal from reaching another process that got the number of one that has been reaped.
	signalling sync.Mutex
	reaped     bool
	asked      bool // to end, by SIGTERM
}

// Start starts the program and stops it, as Stop does, when ctx ends.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if spec.Grace == 0 {
		spec.Grace = defaultGrace
	}
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", spec.Name, err)
	}
	defer func() { _ = log.Close() }() // the child has its own copy

	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()

	p := &Process{spec: spec, cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Name, err)
	}
	stopWhenDone := context.AfterFunc(ctx, func() { _ = p.Stop() })
	go func() {
		<-p.done
		stopWhenDone()
	}()
	return p, nil
}

// run holds one OS thread for as long as the process lives: the kernel sends the parent-death signal when the thread
// that forked ends, and the runtime ends idle threads while the program goes on.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	awaitExit(p.cmd.Process.Pid)

	p.signalling.Lock()
	// Whatever the leader left in its group goes with it. A child that made a group of its own, as a Pulumi run of the
	// controller does, is left alone, which is what crash tests need. The leader is not reaped yet, so its number
	// cannot belong to somebody else.
	killErr := signalGroup(p.cmd.Process.Pid, syscall.SIGKILL)
	err = p.cmd.Wait()
	p.reaped = true
	p.signalling.Unlock()

	p.err = p.outcome(err, killErr)
	close(p.done)
}

// outcome names the process in the error of a bad exit and quotes the end of its log.
func (p *Process) outcome(waitErr, killErr error) error {
	if killErr != nil {
		killErr = fmt.Errorf("killing what %s left behind: %w", p.spec.Name, killErr)
	}
	if waitErr != nil {
		waitErr = fmt.Errorf("%s ended with %w; the end of its log:\n%s", p.spec.Name, waitErr, p.LogTail())
	}
	return errors.Join(waitErr, killErr)
}

// Name returns the name given in the Spec.
func (p *Process) Name() string { return p.spec.Name }

// PID returns the process number, which is also the number of its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended and its group is gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the process. The error, if it ended other than with status 0, holds the end of its log.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Stop asks the whole group to end with SIGTERM, and kills it when the leader has not ended after Spec.Grace. It
// returns when the process is gone. An error means that it had to be killed or could not be signalled; a process that
// ended, however it ended, is no error. The group is asked once, however often Stop is called: a controller takes a
// second SIGTERM for a wish to end at once, whatever it is doing (controller-runtime's signal handler).
func (p *Process) Stop() error {
	if err := p.ask(); err != nil {
		return err
	}
	timer := time.NewTimer(p.spec.Grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	}
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return fmt.Errorf("%s did not end within %s of SIGTERM and was killed; the end of its log:\n%s",
		p.spec.Name, p.spec.Grace, p.LogTail())
}

// Kill ends the whole group with SIGKILL, as a crash would, and returns when it is gone.
func (p *Process) Kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// ask sends SIGTERM to the group unless that was done before.
func (p *Process) ask() error {
	p.signalling.Lock()
	asked := p.asked
	p.asked = true
	p.signalling.Unlock()
	if asked {
		return nil
	}
	return p.signal(syscall.SIGTERM)
}

// signal sends to the group unless the process has ended.
func (p *Process) signal(sig syscall.Signal) error {
	p.signalling.Lock()
	defer p.signalling.Unlock()
	if p.reaped {
		return nil
	}
	if err := signalGroup(p.cmd.Process.Pid, sig); err != nil {
		return fmt.Errorf("sending %s to %s: %w", sig, p.spec.Name, err)
	}
	return nil
}

func signalGroup(leader int, sig syscall.Signal) error {
	err := syscall.Kill(-leader, sig)
	// ESRCH: nobody is left in the group. EPERM: some systems say so when only the dead leader is left.
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return err
}

// LogTail returns the last 4 KiB of the log for use in an error message.
func (p *Process) LogTail() string {
	file, err := os.Open(p.spec.Log)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := file.Seek(-tailBytes, io.SeekEnd); err != nil {
			return fmt.Sprintf("(no log: %v)", err)
		}
	}
	tail, err := io.ReadAll(io.LimitReader(file, tailBytes))
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	return string(tail)
}
