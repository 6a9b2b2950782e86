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

// mayLive reports whether a live process may have made the lock; if in doubt, it may. A
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

// isThread reports whether the ID is that of a thread other than the main one, whose ID
// is the PID.
func isThread(pid int) bool {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	status, err := process.NewStatus()
	return err == nil && status.TGID != pid
}

// isZombie reports whether the process has ended and only waits to be reaped: kill(2)
// still finds it, and it still has a start time. A main thread that has ended while
// others continue looks the same, but for the number of threads.
func isZombie(pid int) bool {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	stat, err := process.Stat()
	return err == nil && (stat.State == "Z" || stat.State == "X") && stat.NumThreads <= 1
}

// startOf is when the process started, by the current clock.
func startOf(pid int) (time.Time, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return time.Time{}, err
	}
	stat, err := process.Stat()
	if err != nil {
		return time.Time{}, err
	}
	// The start time counts from the boot, as does bootTime. The boot time that procfs
	// would add has whole seconds only.
	booted, err := bootTime()
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the time since the boot: %w", err)
	}
	return booted.Add(time.Duration(stat.Starttime) * time.Second / ticksPerSecond), nil
}
