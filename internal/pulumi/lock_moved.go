// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// wasMoved reports whether a file backend is the one in which the interrupted run worked, at
// another place: that has no state any more, as far as it is known, and this has the lock of
// the run, which a backup of another time does not have.
func (s *session) wasMoved(lost run.Interrupted) bool {
	if s.lockDir() == "" || !s.mayBeGone(lost.Backend) {
		return false
	}
	entries, err := os.ReadDir(s.lockDir())
	return err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		if !entry.Type().IsRegular() {
			return false
		}
		holder := readLock(filepath.Join(s.lockDir(), entry.Name()))
		return s.isOurs(holder) && holder.isDuring(lost)
	})
}

// mayBeGone is false for what is known to have the stack, and for what is no file backend. A
// Secret may hide where the state was.
func (s *session) mayBeGone(reported string) bool {
	if kept := keptIn(reported); kept != "" {
		return !s.hasState(kept)
	}
	return grammar.IsHidden(reported)
}

// hasState reports whether a file backend has the state of the stack. A look at an empty
// directory has left other files there.
func (s *session) hasState(kept string) bool {
	_, name, _ := strings.Cut(s.stack, "/") // without the organization
	state := filepath.Join(kept, "stacks", filepath.FromSlash(name)+".json")
	return exists(state) || exists(state+".gz")
}

// isDuring reports whether a lock was made during the run: a host has many runs.
func (h lockHolder) isDuring(lost run.Interrupted) bool {
	return h.host == lost.Host && !lost.From.IsZero() && !lost.To.IsZero() && !h.at.Before(lost.From) && !h.at.After(lost.To)
}
