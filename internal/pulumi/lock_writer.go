// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

const (
	// ticksPerSecond is USER_HZ, the unit of times in /proc, which is the same on all
	// supported architectures.
	ticksPerSecond = 100
	// startMargin is how much later than a lock a process must have started to be ruled
	// out as its maker: locks have whole seconds, and clocks get adjusted.
	startMargin = 5 * time.Second
)

// mayLive tells whether a live process may have made the lock; if in doubt, it may. A
// PID alone proves little: a restarted container reuses the PIDs of the one before, and
// kill(2) also finds threads.
func (h lockHolder) mayLive() bool {
	if h.pid == os.Getpid() {
		return false // this process makes no locks
	}
	if errors.Is(syscall.Kill(h.pid, 0), syscall.ESRCH) || isThread(h.pid) || isZombie(h.pid) {
		return false
	}
	started, err := startOf(h.pid)
	if errors.Is(err, os.ErrNotExist) {
		return false // it has just ended
	}
	return err != nil || h.at.IsZero() || !started.After(h.at.Add(startMargin))
}

// isThread tells whether the number is that of a thread which is not the first of
// its process: the number of a process is that of its first.
func isThread(pid int) bool {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	status, err := process.NewStatus()
	return err == nil && status.TGID != pid
}

// isZombie tells whether all of the process has ended but for its entry, which its
// parent has not read: kill(2) finds it, and it has a start. A first thread that has
// ended beside others that go on looks the same.
func isZombie(pid int) bool {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	stat, err := process.Stat()
	return err == nil && (stat.State == "Z" || stat.State == "X") && stat.NumThreads <= 1
}

// startOf is when the process was started, by the clock as it is set now.
func startOf(pid int) (time.Time, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return time.Time{}, err
	}
	stat, err := process.Stat()
	if err != nil {
		return time.Time{}, err
	}
	// It counts from the boot, as this clock does: the boot time that procfs would
	// add is of whole seconds only.
	booted, err := bootTime()
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the time since the boot: %w", err)
	}
	return booted.Add(time.Duration(stat.Starttime) * time.Second / ticksPerSecond), nil
}
