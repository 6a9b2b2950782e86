// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A stack that does not exist can be locked: by a CLI that is about to create it, has
// removed it, or was killed doing so. Pulumi reports that lock only to whoever tries to
// create the stack.

// noteHeld notes a lock in a file backend that is not an interrupted run's. It skips
// what is not a regular file and the .attrs files that the backend keeps beside each
// file.
func (s *session) noteHeld(path string, entry fs.DirEntry) {
	if entry.Type().IsRegular() && filepath.Ext(path) != ".attrs" {
		s.heldLocks = append(s.heldLocks, heldLine(path, readLock(path)))
	}
}

// unreadLocks lists the stack's lock files in a file backend that cannot be parsed, for
// example after a power failure during the write. Pulumi reads all of them and, given
// one of these, fails with nothing but a JSON error.
func (s *session) unreadLocks() []string {
	if s.prepared == nil || s.lockDir() == "" {
		return nil
	}
	entries, err := os.ReadDir(s.lockDir())
	if err != nil {
		return nil // something else is wrong then
	}
	var unread []string
	for _, entry := range entries {
		path := filepath.Join(s.lockDir(), entry.Name())
		if entry.Type().IsRegular() && filepath.Ext(path) == ".json" && readLock(path) == (lockHolder{}) {
			unread = append(unread, path)
		}
	}
	return unread
}

// locks reports whether the operation may lock the stack: what changes nothing does so only to
// create the stack, or to settle what someone else may have left in flight.
func locks(operation run.Operation) bool {
	kind := run.KindOf(operation)
	return kind.InspectsFirst || kind.CreatesStack
}

// unreadMessage reports locks that cannot be read.
func unreadMessage(unread []string) string {
	return fmt.Sprintf("the stack is locked by %d lock(s) that cannot be read, and Pulumi does nothing while they exist: "+
		"if nothing is using the stack, delete %s from the backend",
		len(unread), strings.Join(unread[:min(len(unread), maxNamed)], " and "))
}

// heldLine formats a lock as Pulumi does.
func heldLine(path string, holder lockHolder) string {
	if holder == (lockHolder{}) {
		return fmt.Sprintf("file://%s: created by an unknown user", path)
	}
	// A line break in a name would start another line.
	who := strings.Join(strings.Fields(holder.user+"@"+holder.host), " ")
	return fmt.Sprintf("file://%s: created by %s (pid %d) at %s", path, who, holder.pid, holder.at.Format(time.RFC3339))
}

// heldMessage reports the locks of a stack that does not exist.
func heldMessage(held []string) string {
	lines := strings.Join(held[:min(len(held), maxNamed)], "\n")
	return lockMessage(fmt.Sprintf("the stack is locked by %d lock(s)\n%s", len(held), lines)) + lockAdvice(lines, true)
}
