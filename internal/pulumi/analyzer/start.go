// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package analyzer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// maxPort bounds what a pack prints before the end of its first line, which is the port on which it
// serves Pulumi. Pulumi reads that byte by byte, and without a limit.
const maxPort = 1 << 10

// startError is why a pack is ended while it starts.
type startError struct{ text string }

func (e *startError) Error() string { return e.text }

// start is the start of a pack. What the pack prints is written to it.
type start struct {
	file   string
	fail   context.CancelCauseFunc
	timer  *time.Timer
	out    io.Writer
	line   []byte
	serves bool
}

// begin has a pack that does not start fail.
func (l Launch) begin(fail context.CancelCauseFunc) (*start, error) {
	if err := os.WriteFile(l.Starting, nil, 0o600); err != nil {
		return nil, err
	}
	return &start{
		file: l.Starting, fail: fail, out: os.Stdout,
		timer: time.AfterFunc(l.Patience, func() {
			fail(&startError{fmt.Sprintf("it did not start within %s", l.Patience)})
		}),
	}, nil
}

// Write passes on what the pack prints, once that begins with the port.
func (s *start) Write(printed []byte) (int, error) {
	if s.serves {
		return s.out.Write(printed)
	}
	s.line = append(s.line, printed...)
	switch at := bytes.IndexByte(s.line, '\n'); {
	case at > maxPort || at < 0 && len(s.line) > maxPort:
		err := &startError{fmt.Sprintf("it printed more than %d bytes in place of a port", maxPort)}
		s.fail(err)
		return 0, err
	case at < 0:
		return len(printed), nil
	}
	s.end()
	s.serves = true
	if _, err := s.out.Write(s.line); err != nil {
		return 0, err
	}
	s.line = nil
	return len(printed), nil
}

// end ends the start: the pack serves Pulumi, or has ended.
func (s *start) end() {
	s.timer.Stop()
	if err := os.Remove(s.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(os.Stderr, err) // all that it does is to name the pack if the run is stopped later
	}
}

// runProgram runs a pack that is an executable, and returns its exit code.
func (l Launch) runProgram(ctx context.Context, args []string, begun *start) (int, error) {
	pack := exec.CommandContext(ctx, l.Program, args...)
	pack.Dir, pack.Env, pack.Stdout, pack.Stderr = l.Dir, l.Env, begun, ownStderr()
	pack.Cancel = func() error { return pack.Process.Signal(syscall.SIGINT) }
	pack.WaitDelay = grace
	err := pack.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status, _ := exit.Sys().(syscall.WaitStatus)
		switch {
		case status.Exited():
			return status.ExitStatus(), nil // it has said why
		case status.Signal() == syscall.SIGINT: // which Pulumi sends to both processes, once it needs them no more
			return 1, nil
		}
	}
	if err != nil {
		return 1, fmt.Errorf("running %s: %w", filepath.Base(l.Program), err)
	}
	return 0, nil
}

// ownStderr is the standard error of this process for another one that does not get it itself: Pulumi
// waits until everything that has it has ended, also what a pack leaves behind.
func ownStderr() io.Writer { return struct{ io.Writer }{os.Stderr} }
