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

// unfinishedLock is the age after which nobody can still be writing an incomplete lock
// file.
const unfinishedLock = time.Minute

// maxLock bounds the size of a lock file, in bytes: Pulumi writes a few hundred.
const maxLock = 64 << 10

// removeLocks removes the locks that interrupted runs left in a file backend, and no
// others. It returns true if nothing is left that could be a lock.
//
// pulumi cancel cannot do this: it removes all locks of a stack at once, and none of a
// stack that does not exist, for example when the CLI was killed while creating the stack or
// after removing it. Each CLI process has a lock file of its own.
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
		// Only a regular file is a lock; reading anything else may block forever.
		if !entry.Type().IsRegular() || (!s.isOurs(readLock(path)) && !isUnfinished(entry)) {
			free = false
			s.noteHeld(path, entry)
			continue
		}
		s.say("removing a lock that an interrupted run left: " + path)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("removing the lock of an interrupted run: %w", err)
		}
	}
	return free, nil
}

// isUnfinished recognizes the temporary lock file of a CLI that was killed before it
// completed it. It has to go: any other CLI takes it for a lock, and cannot read it.
func isUnfinished(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && filepath.Ext(entry.Name()) == ".tmp" && time.Since(info.ModTime()) > unfinishedLock
}

// lockDir is where a file backend keeps the locks of the stack, or "" if unknown.
func (s *session) lockDir() string {
	kept := keptIn(s.run.Backend)
	if kept == "" {
		return ""
	}
	return filepath.Join(kept, "locks", filepath.FromSlash(s.stack))
}

// keptIn is where a file backend keeps everything, or "" if unknown: for other backends, and
// for URLs that Pulumi resolves in ways of its own.
func keptIn(backend string) string {
	u, err := url.Parse(backend)
	if err != nil || u.Scheme != "file" || u.Host != "" || !filepath.IsAbs(u.Path) || u.Query().Has("prefix") {
		return ""
	}
	return filepath.Join(u.Path, ".pulumi")
}

// readLock reads the holder of a lock from its file. The zero value is an unknown
// holder.
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
	defer func() { _ = file.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(file, maxLock+1))
	if err != nil || len(text) > maxLock || json.Unmarshal(text, &content) != nil {
		return lockHolder{}
	}
	return lockHolder{user: content.Username, host: content.Hostname, pid: content.PID, at: content.Timestamp}
}

// lockIsLeft reports whether only interrupted runs hold locks on the stack. It must be
// sure, because pulumi cancel removes all locks of a stack at once.
func (s *session) lockIsLeft(message string) bool {
	holders := lockHolders(message)
	return isLocked(message) && len(holders) > 0 &&
		!slices.ContainsFunc(holders, func(h lockHolder) bool { return !s.isOurs(h) })
}

// isOurs reports whether a lock provably belongs to one of the interrupted runs, whose
// processes have all ended.
func (s *session) isOurs(h lockHolder) bool {
	here, err := os.Hostname()
	return err == nil && slices.ContainsFunc(s.run.Interrupted, func(lost run.Interrupted) bool {
		if h.host == "" || h.host != lost.Host {
			return false
		}
		// The host of that run is gone, so its name is all there is to go by. It is the
		// name of a pod, which no other pod has, or a person has confirmed that no
		// Pulumi is at work there any more.
		if lost.Host != here {
			return true
		}
		// The processes of that run have ended. A live process with the same PID may be
		// someone else's that made the lock, unless it is younger than the lock.
		return !h.mayLive() && (slices.Contains(readPIDs(s.dir.of(lost.ID).pids()), h.pid) || s.isOfLostFiles(h, lost))
	})
}

// lockHolder is who holds a lock, as reported by Pulumi.
type lockHolder struct {
	user, host string
	pid        int
	// at is when the lock was made, zero if unknown.
	at time.Time
}

const (
	lockUser    = ": created by "
	lockProcess = " (pid "
)

// lockHolders parses "<url>: created by <user>@<host> (pid <pid>) at <time>", one line
// per lock. A line that it does not understand counts as an unknown holder. The user
// name may be anything, even text that looks like the end of a line, so the last match
// counts.
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
				// An unreadable time stays zero, which proves nothing.
				at, _ := time.Parse(time.RFC3339, strings.TrimSpace(when))
				end := strings.LastIndex(name, "@")
				holder = lockHolder{user: name[:max(end, 0)], host: name[end+1:], pid: pid, at: at}
			}
		}
		holders = append(holders, holder)
	}
	return holders
}

// readPIDs reads the PIDs that the CLI processes noted: see start.
func readPIDs(path string) []int {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	var pids []int
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		if pid, err := strconv.Atoi(scanner.Text()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
