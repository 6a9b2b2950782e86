// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package process starts and ends the programs that tests, the demo and the benchmark
// need, so that none outlives its parent, however that ends. It knows no particular
// program. It must not import testing, because the demo uses it. It works on Linux only,
// which alone can tie the life of a child to that of its parent.
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

// Spec describes the process to start.
type Spec struct {
	// Name of the process in error messages.
	Name string
	// Path of the program, as returned by FindBin.
	Path string
	Args []string
	// Env is the whole environment. Nil is that of the parent.
	Env []string
	// Dir is the working directory. Empty is that of the parent.
	Dir string
	// Log is the file to which stdout and stderr are appended. Required: unlike a pipe, a
	// file needs no goroutine to drain it, and no child that outlives the process holds
	// it open.
	Log string
	// Grace is the time between SIGTERM and SIGKILL in Stop. Zero is 10 seconds.
	Grace time.Duration
}

// Process is a started program, the leader of its own process group. Its methods may be
// called from any goroutine, any number of times.
type Process struct {
	spec Spec
	cmd  *exec.Cmd
	done chan struct{}
	err  error // written before done is closed
	// signalling prevents a signal to another process that got the PID after this one was
	// reaped.
	signalling sync.Mutex
	reaped     bool
	asked      bool // to end, by SIGTERM
}

// Start starts the program. The end of ctx stops it, like Stop.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if spec.Grace == 0 {
		spec.Grace = defaultGrace
	}
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", spec.Name, err)
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor

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

// run locks an OS thread while the process lives: the kernel sends the parent-death
// signal when the thread that forked ends, and the Go runtime ends idle threads.
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
	// Whatever the leader left in its group dies with it. A child in a group of its own,
	// such as a Pulumi run of the controller, survives, as crash tests need. The leader
	// is not reaped yet, so no other process has its PID.
	killErr := signalGroup(p.cmd.Process.Pid, syscall.SIGKILL)
	err = p.cmd.Wait()
	p.reaped = true
	p.signalling.Unlock()

	p.err = p.outcome(err, killErr)
	close(p.done)
}

// outcome returns the error of a bad exit, with the name of the process and the end of
// its log.
func (p *Process) outcome(waitErr, killErr error) error {
	if killErr != nil {
		killErr = fmt.Errorf("killing what %s left behind: %w", p.spec.Name, killErr)
	}
	if waitErr != nil {
		waitErr = fmt.Errorf("%s ended with %w; the end of its log:\n%s", p.spec.Name, waitErr, p.LogTail())
	}
	return errors.Join(waitErr, killErr)
}

// Name returns the name in the Spec.
func (p *Process) Name() string { return p.spec.Name }

// PID returns the process ID, which is also that of its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended and its group is gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the process. If the exit status is not 0, the error has the
// end of the log.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Ending waits for the end of the process, and returns how it ended, such as "signal: killed".
func (p *Process) Ending() string {
	<-p.done
	return p.cmd.ProcessState.String()
}

// Stop sends SIGTERM to the whole group, and SIGKILL if the leader has not ended after
// Spec.Grace. It returns when the process is gone. It fails if the process had to be
// killed or could not be signalled, but not if it ended by itself, in whatever way. It
// sends SIGTERM only once, as a second one makes a controller exit at once
// (controller-runtime's signal handler).
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

// Kill sends SIGKILL to the whole group, like a crash, and returns when it is gone.
func (p *Process) Kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// ask sends SIGTERM to the group, but only once.
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

// signal signals the group unless the process has ended.
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
	// ESRCH: the group is empty. EPERM: on some systems, only the dead leader is left.
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return err
}

// LogTail returns the last 4 KiB of the log, for error messages.
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
