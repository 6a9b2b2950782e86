// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const (
	// leaveTimeout is how long processes may take to end by themselves, as a
	// Pulumi does that was asked to stop.
	leaveTimeout = 5 * time.Second
	killTimeout  = time.Minute
	lookInterval = 50 * time.Millisecond
)

// endProcesses waits until no process uses the directory, and kills those that do not end
// by themselves: a run is in its own process group, which outlives a controller that was
// killed.
func endProcesses(dir string) error {
	left, err := processesUsing(dir)
	for began := time.Now(); err == nil && len(left) > 0; left, err = processesUsing(dir) {
		waited := time.Since(began)
		if waited > leaveTimeout+killTimeout {
			return fmt.Errorf("processes %v use %s and do not end", left, dir)
		}
		if waited > leaveTimeout {
			killUsing(dir, left)
		}
		time.Sleep(lookInterval)
	}
	return err
}

// killUsing kills those of the processes that still use the directory. It checks again
// while it holds a file descriptor of the process, so that the signal cannot reach
// another one that got its PID.
func killUsing(dir string, pids []int) {
	for _, pid := range pids {
		found, err := os.FindProcess(pid)
		if err != nil {
			continue // it has ended
		}
		if uses(pid, dir) {
			_ = found.Kill() // fails only if it has ended
		}
		_ = found.Release() // it only closes a descriptor
	}
}

// processesUsing lists the processes that have their home in the directory: all that the
// demo and the runs of its controller have started. Someone who looks at a kept demo has
// processes that only name the directory, such as a shell with its KUBECONFIG.
func processesUsing(dir string) ([]int, error) {
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, fmt.Errorf("looking for processes: %w", err)
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if err == nil && uses(pid, dir) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// uses returns false for a process that has ended or is another user's.
func uses(pid int, dir string) bool {
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(variable []byte) bool {
		home, ok := bytes.CutPrefix(variable, []byte("HOME="+dir))
		return ok && (len(home) == 0 || home[0] == '/')
	})
}
