// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/flux-pulumi/pulumi-controller/tests/cluster/node"
)

// Down ends the cluster of a directory, or removes what is left of one that was killed,
// and removes the directory. It does nothing if there is none.
func Down(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	spec, err := node.Read(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err == nil {
		if err := end(ctx, spec); err != nil {
			return fmt.Errorf("ending the cluster of %s: %w", dir, err)
		}
	}
	return remove(dir)
}

func end(ctx context.Context, spec node.Spec) error {
	if pid, err := running(spec); err == nil {
		// The kernel then kills all the others, whatever their state.
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	err := poll(ctx, func() error {
		if pid, err := running(spec); err == nil {
			return fmt.Errorf("process %d has not ended", pid)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if isOthers(spec) {
		return nil
	}
	if err := pullCable(ctx, spec); err != nil {
		return err
	}
	return poll(ctx, func() error { return removeCgroups(spec.Cgroup()) })
}

// remove removes the directory, but fails if anything is mounted in it: that would not be
// the cluster's.
func remove(dir string) error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			return fmt.Errorf("removing %s: something is mounted at %s", dir, fields[4])
		}
	}
	return os.RemoveAll(dir)
}

// poll tries until it succeeds, or returns the last error when the time is up.
func poll(ctx context.Context, try func() error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
	}
}

// noteRunning records the first process of the node with its start time, as a PID alone
// can be reused.
func noteRunning(spec node.Spec, pid int) error {
	started, err := startTime(pid)
	if err != nil {
		return fmt.Errorf("the node has ended at once: %w", err)
	}
	return os.WriteFile(spec.Path("pid"), fmt.Appendf(nil, "%d %s\n", pid, started), 0o600)
}

// running returns the first process of the node, or an error if it has ended.
func running(spec node.Spec) (int, error) {
	noted, err := os.ReadFile(spec.Path("pid"))
	if err != nil {
		return 0, err
	}
	var pid int
	var noticed string
	if _, err := fmt.Sscan(string(noted), &pid, &noticed); err != nil {
		return 0, fmt.Errorf("reading the process of the node: %w", err)
	}
	started, err := startTime(pid)
	if err != nil {
		return 0, err
	}
	if started != noticed {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	return pid, nil
}

// startTime returns the start time of a process in kernel ticks. A process that has ended
// has none, even if it is not reaped.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
	if err != nil {
		return "", err
	}
	// The program name, in parentheses, can contain any character.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')'):]), " ")
	fields := strings.Fields(rest)
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	return fields[start], nil
}
