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

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// When the data directory is lost, so are the PIDs of a run. A lock still counts as
// that run's if this user made it on this host during the run, which had the stack to
// itself, and no process that could have made it is alive.

// isOfLostFiles reports whether a lock made on this host belongs to a run whose files are
// lost. The caller has checked that its process is not seen alive.
func (s *session) isOfLostFiles(h lockHolder, lost run.Interrupted) bool {
	// Check the PID file: whoever stores the run's result recreates the directory.
	if _, err := os.Stat(s.dir.of(lost.ID).pids()); !errors.Is(err, fs.ErrNotExist) {
		return false // the PIDs of the run are known
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

// The inode numbers of a machine's initial namespaces are fixed in Linux.
const (
	firstPIDNamespace = "pid:[4026531836]"
	firstUTSNamespace = "uts:[4026531838]"
)

// seesItsHost reports whether this process sees all others that share its host name. A
// container with hostNetwork has the name of its node but sees none of the node's
// processes. A container with a host name of its own shares it with nobody.
func seesItsHost() bool {
	pids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return false
	}
	names, err := os.Readlink("/proc/self/ns/uts")
	return err == nil && (pids == firstPIDNamespace || names != firstUTSNamespace)
}

// mayLiveWithin reports whether a process in a child PID namespace has that PID there. It
// may have made the lock, because its host name may be the same.
func (h lockHolder) mayLiveWithin() bool {
	pids, err := process.All()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(pids, func(pid int) bool {
		one, err := procfs.NewProc(pid)
		if err != nil {
			return !errors.Is(err, fs.ErrNotExist)
		}
		status, err := one.NewStatus()
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

// isEnded recognizes the error of a process that ended while it was being inspected.
func isEnded(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) }

// bootTime is when this machine booted, by the current clock.
func bootTime() (time.Time, error) {
	var sinceBoot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot); err != nil {
		return time.Time{}, err
	}
	return time.Now().Add(-time.Duration(sinceBoot.Nano())), nil
}
