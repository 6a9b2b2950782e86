// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// CountMarked counts the live processes with the mark in their environment, a whole
// NAME=VALUE, whoever their parent is.
func CountMarked(mark string) (int, error) {
	found, err := Marked(mark)
	Release(found)
	return len(found), err
}

// EndMarked ends all processes with the mark, with SIGTERM and, after the grace period,
// SIGKILL. It returns how many it found.
func EndMarked(mark string, grace time.Duration) (int, error) {
	count, err := CountMarked(mark)
	if err != nil || count == 0 {
		return 0, err
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		gone, err := signalUntilGone(mark, signal, grace)
		if err != nil || gone {
			return count, err
		}
	}
	return count, errors.New("processes of the run do not end when they are killed")
}

// signalUntilGone signals repeatedly, because a process may have started another one
// since the last look.
func signalUntilGone(mark string, signal syscall.Signal, grace time.Duration) (bool, error) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(grace); ; <-ticker.C {
		found, err := Marked(mark)
		if err != nil || len(found) == 0 {
			return true, err
		}
		for _, process := range found {
			// It may have ended already, which is fine.
			_ = process.Signal(signal)
		}
		Release(found)
		if time.Now().After(deadline) {
			return false, nil
		}
	}
}

// Marked lists the processes with the mark in their environment. Each is held by a file descriptor and checked a second time, so that a signal cannot reach another
// process that reused the PID.
func Marked(mark string) ([]*os.Process, error) {
	pids, err := All()
	if err != nil {
		return nil, fmt.Errorf("looking for processes of the run: %w", err)
	}
	var found []*os.Process
	for _, pid := range pids {
		if !hasMark(pid, mark) {
			continue
		}
		process, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if !hasMark(pid, mark) {
			Release([]*os.Process{process})
			continue
		}
		found = append(found, process)
	}
	return found, nil
}

// All lists all PIDs. A glob would also list the whole directory of each process,
// which took most of the time.
func All() ([]int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer func() { _ = proc.Close() }() // only read
	names, err := proc.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// hasMark is false for a process that is gone or belongs to another user.
func hasMark(pid int, variable string) bool {
	mark, text := []byte(variable), environOf(pid)
	return bytes.Contains(text, mark) && slices.ContainsFunc(bytes.Split(text, []byte{0}), func(variable []byte) bool {
		return bytes.Equal(variable, mark)
	})
}

// environOf reads the environment of a process. During an exec it is empty for a
// moment, so a process with an executable and no environment is read again, or it would
// be taken for gone. Kernel threads and zombies have no executable.
func environOf(pid int) []byte {
	dir := fmt.Sprintf("/proc/%d", pid)
	for range 5 {
		text, err := os.ReadFile(dir + "/environ")
		if err != nil || len(text) > 0 {
			return text
		}
		if _, err := os.Readlink(dir + "/exe"); err != nil {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// Release gives back processes of Marked.
func Release(processes []*os.Process) {
	for _, process := range processes {
		_ = process.Release() // only closes a descriptor
	}
}
