// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// lockIsLeft tells whether the stack is locked by runs that were interrupted and
// by nobody else: Pulumi can only remove all locks of a stack at once.
func (s *session) lockIsLeft(message string) bool {
	here, err := os.Hostname()
	if err != nil || !isLocked(message) {
		return false
	}
	isOurs := func(h lockHolder) bool {
		return slices.ContainsFunc(s.run.Interrupted, func(lost run.Interrupted) bool {
			if h.host != lost.Host {
				return false
			}
			// Of a run on another machine, which is gone, the name of the machine is
			// all that is known: it is a pod's, and no other pod has it.
			if lost.Host != here {
				return true
			}
			// Its processes have ended: one that is alive has only its number.
			alive := syscall.Kill(h.pid, 0) == nil
			return !alive && slices.Contains(readPIDs(s.dir.of(lost.ID).pids()), h.pid)
		})
	}
	holders := lockHolders(message)
	return len(holders) > 0 && !slices.ContainsFunc(holders, func(h lockHolder) bool { return !isOurs(h) })
}

// lockHolder is who has a lock, as Pulumi tells it.
type lockHolder struct {
	host string
	pid  int
}

// lockHolders reads "<url>: created by <user>@<host> (pid <pid>) at <time>", one
// line for each lock. A line that it does not understand is somebody, of whom
// nothing is known.
func lockHolders(message string) []lockHolder {
	var holders []lockHolder
	for line := range strings.Lines(message) {
		_, who, ok := strings.Cut(line, ": created by ")
		if !ok {
			continue
		}
		var holder lockHolder
		if name, rest, ok := strings.Cut(who, " (pid "); ok {
			number, _, _ := strings.Cut(rest, ")")
			if pid, err := strconv.Atoi(number); err == nil {
				holder = lockHolder{host: name[strings.LastIndex(name, "@")+1:], pid: pid}
			}
		}
		holders = append(holders, holder)
	}
	return holders
}

// readPIDs reads what notePID wrote.
func readPIDs(path string) []int {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // it is only read
	var pids []int
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		if pid, err := strconv.Atoi(scanner.Text()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
