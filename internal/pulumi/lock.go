// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// unfinishedLock is how old the file of a lock that was not written to its end has
// to be until nobody can be writing it any more.
const unfinishedLock = time.Minute

// maxLock bounds the file of a lock, in bytes: Pulumi writes a few hundred.
const maxLock = 64 << 10

// removeLocks removes the locks that the interrupted runs have left in a file
// backend, and no other. Pulumi itself removes all locks of a stack at once, and
// none of a stack that does not exist: of a CLI that was killed while it made the
// stack, or after it has removed it. Each CLI process has a file of its own. It is
// true where nothing that could be a lock is left.
func (s *session) removeLocks() (bool, error) {
	if s.lockDir() == "" {
		return false, nil
	}
	entries, err := os.ReadDir(s.lockDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("looking for the locks of the stack: %w", err)
	}
	free := true
	for _, entry := range entries {
		path := filepath.Join(s.lockDir(), entry.Name())
		// Nothing but a file is a lock, and what else there is may never end to be read.
		if !entry.Type().IsRegular() || (!s.isOurs(readLock(path)) && !isUnfinished(entry)) {
			free = false
			s.noteHeld(path, entry)
			continue
		}
		s.say("a lock of the stack was left by a run that was interrupted, and is removed: " + path)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("removing the lock of a run that was interrupted: %w", err)
		}
	}
	return free, nil
}

// isUnfinished recognizes the file that is to become a lock, of a CLI that was
// killed before it did. No CLI can go on beside it: it is taken for a lock, and is
// not one that can be read.
func isUnfinished(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && filepath.Ext(entry.Name()) == ".tmp" && time.Since(info.ModTime()) > unfinishedLock
}

// lockDir is where a file backend has the locks of the stack, "" where that is not
// known: on any other backend, and for URLs that Pulumi resolves in ways of its
// own.
func (s *session) lockDir() string {
	u, err := url.Parse(s.run.Backend)
	if err != nil || u.Scheme != "file" || u.Host != "" || !filepath.IsAbs(u.Path) || u.Query().Has("prefix") {
		return ""
	}
	return filepath.Join(u.Path, ".pulumi", "locks", filepath.FromSlash(s.stack))
}

// readLock reads who has a lock from its file: nobody that is known where that is
// not possible.
func readLock(path string) lockHolder {
	var content struct {
		PID       int       `json:"pid"`
		Username  string    `json:"username"`
		Hostname  string    `json:"hostname"`
		Timestamp time.Time `json:"timestamp"`
	}
	file, err := os.Open(path)
	if err != nil {
		return lockHolder{}
	}
	defer func() { _ = file.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(file, maxLock+1))
	if err != nil || len(text) > maxLock || json.Unmarshal(text, &content) != nil {
		return lockHolder{}
	}
	return lockHolder{user: content.Username, host: content.Hostname, pid: content.PID, at: content.Timestamp}
}

// lockIsLeft tells whether the stack is locked by runs that were interrupted and
// by nobody else: pulumi cancel removes all locks of a stack at once.
func (s *session) lockIsLeft(message string) bool {
	holders := lockHolders(message)
	return isLocked(message) && len(holders) > 0 &&
		!slices.ContainsFunc(holders, func(h lockHolder) bool { return !s.isOurs(h) })
}

// isOurs tells whether a lock is proven to be one of the interrupted runs, all of
// whose processes have ended.
func (s *session) isOurs(h lockHolder) bool {
	here, err := os.Hostname()
	return err == nil && slices.ContainsFunc(s.run.Interrupted, func(lost run.Interrupted) bool {
		if h.host == "" || h.host != lost.Host {
			return false
		}
		// Of a run on another machine, which is gone, the name of the machine is
		// all that is known: it is a pod's, and no other pod has it, or a person has
		// said that no Pulumi is at work there any more.
		if lost.Host != here {
			return true
		}
		// Its processes have ended: one that is alive has only its number, and may be
		// somebody's who made the lock. One that is younger than the lock is not.
		return !h.mayLive() && (slices.Contains(readPIDs(s.dir.of(lost.ID).pids()), h.pid) || s.isOfLostFiles(h, lost))
	})
}

// lockHolder is who has a lock, as Pulumi tells it.
type lockHolder struct {
	user, host string
	pid        int
	// at is when it was made, zero where that is not known.
	at time.Time
}

const (
	lockUser    = ": created by "
	lockProcess = " (pid "
)

// lockHolders reads "<url>: created by <user>@<host> (pid <pid>) at <time>", one
// line for each lock. A line that it does not understand is somebody, of whom
// nothing is known. Who makes a lock may give its user any name, also one that
// looks like the end of a line, or has one in it: what counts is the end.
func lockHolders(message string) []lockHolder {
	var holders []lockHolder
	for line := range strings.Lines(message) {
		_, who, ok := strings.Cut(line, lockUser)
		if !ok && !strings.Contains(line, lockProcess) {
			continue
		}
		var holder lockHolder
		if at := strings.LastIndex(who, lockProcess); at >= 0 {
			name, rest := who[:at], who[at+len(lockProcess):]
			number, when, _ := strings.Cut(rest, ") at ")
			if pid, err := strconv.Atoi(number); err == nil {
				// Without a time that can be read it is zero, and nothing is proven by it.
				at, _ := time.Parse(time.RFC3339, strings.TrimSpace(when))
				end := strings.LastIndex(name, "@")
				holder = lockHolder{user: name[:max(end, 0)], host: name[end+1:], pid: pid, at: at}
			}
		}
		holders = append(holders, holder)
	}
	return holders
}

// readPIDs reads what the CLI processes noted: see start.
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
