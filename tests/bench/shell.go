// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	interruptGrace = 10 * time.Second
	maxShown       = 2 << 10
)

// shell is the CLI alone, as a person with a loop in a shell would use it.
type shell struct {
	// bin is where the CLI is.
	bin      string
	parallel int
	env      []string
}

// newShell makes the directories that the environment names.
func newShell(bin, dir string, parallel int) (shell, error) {
	for _, name := range []string{"backend", "home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return shell{}, fmt.Errorf("preparing bare Pulumi: %w", err)
		}
	}
	return shell{bin: bin, parallel: parallel, env: environment(bin, dir)}, nil
}

// each does the work for as many stacks from the first on, as many at a time as there
// may be, and measures until the last is done.
func (s shell) each(ctx context.Context, first, stacks int, do func(n int) error) (span, error) {
	began := time.Now()
	next := make(chan int)
	failed := make(chan error, s.parallel)
	var workers sync.WaitGroup
	for range s.parallel {
		workers.Go(func() {
			// The signal that ends a child with its parent comes when the thread that
			// started it ends, so the thread is kept.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for n := range next {
				if err := do(n); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	err := hand(ctx, next, first, stacks, failed)
	close(next)
	workers.Wait()
	done := time.Now()
	close(failed)
	for late := range failed {
		err = errors.Join(err, late)
	}
	return span{began: began, done: done}, err
}

// hand hands out the numbers of the stacks until one fails.
func hand(ctx context.Context, next chan<- int, first, stacks int, failed <-chan error) error {
	for n := first; n < first+stacks; n++ {
		select {
		case next <- n:
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// create creates a stack of the program in the directory, and updates it.
func (s shell) create(ctx context.Context, dir string, n int) error {
	if err := s.pulumi(ctx, dir, n, "stack", "init", "--non-interactive", "--stack", stackName(n)); err != nil {
		return err
	}
	return s.up(ctx, dir, n)
}

func (s shell) up(ctx context.Context, dir string, n int) error {
	return s.pulumi(ctx, dir, n, "up", "--yes", "--skip-preview", "--non-interactive", "--stack", stackName(n))
}

// pulumi runs the CLI.
func (s shell) pulumi(ctx context.Context, dir string, n int, args ...string) error {
	if err := s.run(ctx, dir, filepath.Join(s.bin, cliName), args...); err != nil {
		return fmt.Errorf("%s: %w", stackName(n), err)
	}
	return nil
}

// run runs a program, which is interrupted when the context ends.
func (s shell) run(ctx context.Context, dir, program string, args ...string) error {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, s.env
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = interruptGrace
	if err := cmd.Run(); err != nil {
		text := output.Bytes()
		return fmt.Errorf("%s %s: %w: %s", filepath.Base(program), args[0], err, text[max(0, len(text)-maxShown):])
	}
	return nil
}

// environment is what the controller gives to its runs, without what only it
// needs. sameEnvironment checks that the two do not drift apart. All directories are in dir.
func environment(bin, dir string) []string {
	home := filepath.Join(dir, "home")
	return []string{
		"HOME=" + home,
		"LANG=C.UTF-8",
		"NO_COLOR=1",
		"PATH=" + bin + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"TMPDIR=" + filepath.Join(dir, "tmp"),
		"PULUMI_BACKEND_URL=file://" + filepath.Join(dir, "backend"),
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true",
		"PULUMI_DIY_BACKEND_NO_LEGACY_WARNING=1",
		"PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER=true",
		"PULUMI_HOME=" + filepath.Join(home, ".pulumi"),
		"PULUMI_SKIP_UPDATE_CHECK=true",
		passphraseName + "=" + passphrase,
	}
}
