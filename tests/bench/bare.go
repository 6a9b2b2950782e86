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

// bareSide is the CLI alone, as a person with a loop in a shell would use it: a
// directory for each stack, the same PULUMI_HOME for all.
type bareSide struct {
	// dir is where all rounds are, bin where the CLI is.
	dir, bin string
	parallel int

	// State of the round.
	round  string
	stacks int
}

// prepare writes the programs and creates an empty backend.
func (s *bareSide) prepare(_ context.Context, round string, stacks int) error {
	s.round, s.stacks = filepath.Join(s.dir, round), stacks
	for _, dir := range []string{"backend", "home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(s.round, dir), 0o700); err != nil {
			return fmt.Errorf("preparing the round: %w", err)
		}
	}
	return s.write(beforeTheEdit)
}

// write writes the program of every stack.
func (s *bareSide) write(greeting string) error {
	spec, err := program(greeting)
	if err != nil {
		return err
	}
	text, err := spec.Text()
	if err != nil {
		return fmt.Errorf("writing the program: %w", err)
	}
	for n := range s.stacks {
		dir := s.workspace(n)
		if err := errors.Join(
			os.MkdirAll(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(projectText), 0o600),
			os.WriteFile(filepath.Join(dir, "Main.yaml"), text, 0o600),
		); err != nil {
			return fmt.Errorf("writing the program: %w", err)
		}
	}
	return nil
}

func (s *bareSide) workspace(n int) string { return filepath.Join(s.round, stackName(n)) }

// create creates and updates every stack.
func (s *bareSide) create(ctx context.Context) (span, error) {
	return s.each(ctx, func(n int) error {
		if err := s.pulumi(ctx, n, "stack", "init", "--non-interactive", "--stack", stackName(n)); err != nil {
			return err
		}
		return s.up(ctx, n)
	})
}

// update edits the program of every stack and updates it.
func (s *bareSide) update(ctx context.Context) (span, error) {
	if err := s.write(afterTheEdit); err != nil {
		return span{}, err
	}
	return s.each(ctx, func(n int) error { return s.up(ctx, n) })
}

func (s *bareSide) up(ctx context.Context, n int) error {
	return s.pulumi(ctx, n, "up", "--yes", "--skip-preview", "--non-interactive", "--stack", stackName(n))
}

// each does the work for every stack, as many at a time as there may be, and
// measures until the last is done.
func (s *bareSide) each(ctx context.Context, do func(n int) error) (span, error) {
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
	err := hand(ctx, next, s.stacks, failed)
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
func hand(ctx context.Context, next chan<- int, stacks int, failed <-chan error) error {
	for n := range stacks {
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

// pulumi runs the CLI.
func (s *bareSide) pulumi(ctx context.Context, n int, args ...string) error {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, cliName), args...)
	cmd.Dir, cmd.Env = s.workspace(n), s.environment()
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = interruptGrace
	if err := cmd.Run(); err != nil {
		text := output.Bytes()
		return fmt.Errorf("pulumi %s of %s: %w: %s", args[0], stackName(n), err, text[max(0, len(text)-maxShown):])
	}
	return nil
}

// environment is what the controller gives to its runs, without what only it
// needs. sameEnvironment checks that the two do not drift apart.
func (s *bareSide) environment() []string {
	home := filepath.Join(s.round, "home")
	return []string{
		"HOME=" + home,
		"LANG=C.UTF-8",
		"NO_COLOR=1",
		"PATH=" + s.bin + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"TMPDIR=" + filepath.Join(s.round, "tmp"),
		"PULUMI_BACKEND_URL=file://" + filepath.Join(s.round, "backend"),
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true",
		"PULUMI_DIY_BACKEND_NO_LEGACY_WARNING=1",
		"PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER=true",
		"PULUMI_HOME=" + filepath.Join(home, ".pulumi"),
		"PULUMI_SKIP_UPDATE_CHECK=true",
		passphraseName + "=" + passphrase,
	}
}
