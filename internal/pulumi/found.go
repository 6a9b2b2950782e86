// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/natefinch/atomic"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// isFound reports whether the backend has, or had, the stack. A run that is to inspect it
// first says so only afterwards, as it may have to inspect it again.
func (s *session) isFound() bool { return s.stackFound && s.isInspected() }

func (s *session) isInspected() bool { return !s.run.InspectFirst || s.inspected }

// noteFound notes where the stack is, before anything is changed there, unless that is
// known: a recovery that looked for another stack, or in another backend, would find
// nothing to recover from, and leave what the run had done. The run continues if that
// cannot be reported, as its files have it.
func (s *session) noteFound(ctx context.Context) error {
	if s.run.Known.Name == s.project.Name && s.run.KnownBackend == s.backend() {
		return nil
	}
	now := s.reportedFound
	now.Project, now.Backend = s.project, s.backend()
	if now == s.reportedFound {
		return nil
	}
	if err := s.dir.writeFound(now); err != nil {
		return err
	}
	s.reportedFound = now
	if err := s.reportFound(ctx, now); err != nil {
		s.say("failed to report where the stack is: " + err.Error())
	}
	return nil
}

// noteEmptied notes that a destroy has deleted every resource, so that the stack may be
// gone for good. If that cannot be reported, the stack stays, for the next destroy
// to remove.
func (s *session) noteEmptied(ctx context.Context) error {
	now := s.reportedFound
	now.Emptied = true
	if err := s.dir.writeFound(now); err != nil {
		return err
	}
	if err := s.reportFound(ctx, now); err != nil {
		return fmt.Errorf("every resource is deleted, but this could not be recorded, so the next destroy removes the stack itself: %w", err)
	}
	s.reportedFound = now
	return nil
}

// writeFound writes what the run has found. A power failure must not leave half of it.
func (d Directory) writeFound(now run.Found) error {
	text, err := json.Marshal(now)
	if err == nil {
		err = atomic.WriteFile(d.found(), bytes.NewReader(text))
	}
	if err != nil {
		return workspaceError{fmt.Errorf("recording where the stack is: %w", err)}
	}
	return nil
}

// reportFound reports it, for a recovery that does not see the files.
func (s *session) reportFound(ctx context.Context, now run.Found) error {
	if s.run.Reporter == nil {
		return nil
	}
	return s.run.Reporter.Found(ctx, now)
}

// readFound reads what interrupted runs have noted, which is more recent than what the
// caller knows.
func (s *session) readFound() error {
	for _, lost := range s.run.Interrupted {
		s.emptied = s.emptied || lost.Emptied
		text, err := os.ReadFile(s.dir.of(lost.ID).found())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return workspaceError{fmt.Errorf("reading where run %s found the stack: %w", lost.ID, err)}
		}
		var noted run.Found
		if err := json.Unmarshal(text, &noted); err != nil {
			// It is written whole, so that the disk has lost it, as it may lose the file.
			s.say(fmt.Sprintf("failed to read where run %s found the stack: %v", lost.ID, err))
			continue
		}
		s.emptied = s.emptied || noted.Emptied
		if noted.Project.Name != "" {
			s.run.Project, s.run.Known, s.run.KnownBackend = noted.Project, noted.Project, noted.Backend
		}
	}
	return nil
}

// checkPlace is the error, to which elsewhereText adds where, if an interrupted run has worked in another backend. One that has
// the stack as well, such as an older copy, does not have the lock of that run or what it had in flight. That a backend was moved
// is noted before the lock goes, which shows that.
func (s *session) checkPlace(ctx context.Context) error {
	at := slices.IndexFunc(s.run.Interrupted, func(lost run.Interrupted) bool {
		return s.run.Known.Name != "" && lost.Backend == s.run.KnownBackend && s.isElsewhere()
	})
	switch {
	case at < 0:
		return nil
	case slices.ContainsFunc(s.run.Interrupted, s.wasMoved):
		return s.noteMoved(ctx)
	}
	return fmt.Errorf("run %s was interrupted in another backend, which has its lock and its pending operations: "+
		"set spec.backend, or the variable PULUMI_BACKEND_URL, back to that backend until the run is recovered; "+
		"if that backend is gone for good, set spec.suspend to true, delete this Stack and create another", s.run.Interrupted[at].ID)
}

// noteMoved notes where the stack is now, also in the files of the interrupted runs.
func (s *session) noteMoved(ctx context.Context) error {
	for _, lost := range s.run.Interrupted {
		dir := s.dir.of(lost.ID)
		if !exists(dir.found()) {
			continue
		}
		if err := dir.writeFound(run.Found{Project: s.project, Backend: s.backend(), Emptied: s.emptied}); err != nil {
			return err
		}
	}
	return s.noteFound(ctx)
}
