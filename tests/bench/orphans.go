// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	orphanInterval = 10 * time.Millisecond
	orphanPatience = 5 * time.Second
)

// adoptOrphans makes this program the parent of every process below it whose own
// parent ends. Without that, what a language host used after its CLI had ended
// would be in nobody's account.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the parent of orphans: %w", err)
	}
	return nil
}

// reapOrphans waits until all children but the known ones have ended, and
// returns how many there were. One that lives on is an error: what it uses could
// not be distinguished from what the next phase uses.
func reapOrphans(ctx context.Context, known map[int]bool) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, orphanPatience)
	defer cancel()
	tick := time.NewTicker(orphanInterval)
	defer tick.Stop()
	for reaped := 0; ; {
		left, ended, err := reapOnce(known)
		reaped += ended
		if err != nil || len(left) == 0 {
			return reaped, err
		}
		select {
		case <-ctx.Done():
			return reaped, fmt.Errorf("processes that were left behind do not end: %v", left)
		case <-tick.C:
		}
	}
}

// reapOnce reaps the children that have ended, and returns those still alive.
func reapOnce(known map[int]bool) (left map[int]string, ended int, err error) {
	found, err := children()
	if err != nil {
		return nil, 0, err
	}
	left = map[int]string{}
	for pid, stat := range found {
		if known[pid] {
			continue
		}
		var status unix.WaitStatus
		got, err := unix.Wait4(pid, &status, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.ECHILD) || errors.Is(err, unix.EINTR):
			// Reaped by the code that started it, or interrupted.
		case err != nil:
			return nil, ended, fmt.Errorf("waiting for process %d: %w", pid, err)
		case got == pid:
			ended++
		default:
			left[pid] = stat.name
		}
	}
	return left, ended, nil
}

// endOrphans kills all children, when there are none left to keep.
func endOrphans() error {
	for deadline := time.Now().Add(orphanPatience); ; {
		left, _, err := reapOnce(nil)
		if err != nil || len(left) == 0 {
			return err
		}
		for pid := range left {
			// A child that is not waited for keeps its number.
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes do not end when they are killed: %v", left)
		}
	}
}
