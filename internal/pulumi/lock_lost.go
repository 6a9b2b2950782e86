// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The files of a run are lost with the data directory, and with them the numbers of
// its processes. A lock is then taken for its own where it was made on this host, by
// this user and in the time of the run, which had the stack for itself, and nothing
// that made it can be alive.

// isOfLostFiles tells whether a lock of this host whose process is not seen to live
// is that of a run whose files are lost.
func (s *session) isOfLostFiles(h lockHolder, lost run.Interrupted) bool {
	// The directory itself is made again by whoever keeps the result of the run there.
	if _, err := os.Stat(s.dir.of(lost.ID).pids()); !errors.Is(err, fs.ErrNotExist) {
		return false // the numbers of its processes are known
	}
	self, err := user.Current()
	if err != nil || h.user == "" || h.user != self.Username {
		return false
	}
	if h.at.IsZero() || lost.To.IsZero() || h.at.Before(lost.From) || h.at.After(lost.To) {
		return false
	}
	switch lost.Place {
	case run.Here:
		return seesItsHost() && !h.mayLiveWithin()
	case run.BeforeBoot:
		booted, err := bootTime()
		return err == nil && h.at.Add(startMargin).Before(booted)
	}
	return false
}

// The names of the first namespaces of a machine: their numbers are fixed in Linux.
const (
	firstPIDNamespace = "pid:[4026531836]"
	firstUTSNamespace = "uts:[4026531838]"
)

// seesItsHost tells whether this process sees all others that have its host name: a
// container on the network of its machine has the name of that, and sees none of its
// processes. One with a name of its own shares it with nobody.
func seesItsHost() bool {
	pids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return false
	}
	names, err := os.Readlink("/proc/self/ns/uts")
	return err == nil && (pids == firstPIDNamespace || names != firstUTSNamespace)
}

// mayLiveWithin tells whether a process in a PID namespace below this one has that
// number there, and may have made the lock: its host name may be this one.
func (h lockHolder) mayLiveWithin() bool {
	pids, err := processes()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(pids, func(pid int) bool {
		process, err := procfs.NewProc(pid)
		if err != nil {
			return !errors.Is(err, fs.ErrNotExist)
		}
		status, err := process.NewStatus()
		if err != nil {
			return !isEnded(err)
		}
		if len(status.NSpids) < 2 || !slices.Contains(status.NSpids[1:], uint64(h.pid)) {
			return false
		}
		started, err := startOf(pid)
		return err != nil || !started.After(h.at.Add(startMargin))
	})
}

// isEnded is the error of a process that has ended while it was looked at.
func isEnded(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) }

// bootTime is when this machine was booted, by the clock as it is set now.
func bootTime() (time.Time, error) {
	var sinceBoot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot); err != nil {
		return time.Time{}, err
	}
	return time.Now().Add(-time.Duration(sinceBoot.Nano())), nil
}
