// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// ticksPerSecond is the unit of times in /proc: USER_HZ, which is the same on
	// all machines that this is built for.
	ticksPerSecond = 100
	// startMargin is how much later than its lock a process has to be started until
	// it cannot have made it: a lock is told in whole seconds, and clocks are set.
	startMargin = 5 * time.Second
)

// mayLive tells whether a process that is alive may have made the lock. A number
// alone says little: the processes of a container that is started again get those
// of the one before it, and kill(2) finds threads by their numbers, too. Where
// nothing is known it may.
func (h lockHolder) mayLive() bool {
	if h.pid == os.Getpid() {
		return false // this process makes none
	}
	if errors.Is(syscall.Kill(h.pid, 0), syscall.ESRCH) || isThread(h.pid) {
		return false
	}
	started, err := startOf(h.pid)
	if errors.Is(err, os.ErrNotExist) {
		return false // it has ended just now
	}
	return err != nil || h.at.IsZero() || !started.After(h.at.Add(startMargin))
}

// isThread tells whether the number is that of a thread which is not the first of
// its process: the number of a process is that of its first.
func isThread(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		if group, ok := strings.CutPrefix(line, "Tgid:"); ok {
			return strings.TrimSpace(group) != strconv.Itoa(pid)
		}
	}
	return false
}

// startOf is when the process was started, by the clock as it is set now.
func startOf(pid int) (time.Time, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return time.Time{}, err
	}
	// The name of the program, in parentheses, may have anything in it. The start
	// time is field 22, the 20th after it (proc(5)).
	const startTime = 19
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) <= startTime {
		return time.Time{}, fmt.Errorf("/proc/%d/stat has only %d fields", pid, len(fields))
	}
	ticks, err := strconv.ParseInt(fields[startTime], 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("the start time in /proc/%d/stat: %w", pid, err)
	}
	// It counts from the boot, as this clock does: the boot time in /proc/stat is
	// of whole seconds only.
	var sinceBoot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot); err != nil {
		return time.Time{}, fmt.Errorf("reading the time since the boot: %w", err)
	}
	age := time.Duration(sinceBoot.Nano()) - time.Duration(ticks)*time.Second/ticksPerSecond
	return time.Now().Add(-age), nil
}
