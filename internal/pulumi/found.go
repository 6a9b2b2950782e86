// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// isFound tells whether the backend has, or had, the stack. A run that is to inspect it
// first says so only afterwards, as it may have to inspect it again.
func (s *session) isFound() bool { return s.found && s.isInspected() }

func (s *session) isInspected() bool { return !s.run.InspectFirst || s.inspected }

// noteFound notes where the stack is, before anything is changed there, unless that is
// known: a recovery that looked for another stack, or in another backend, would find
// nothing to recover from, and leave what the run had done.
func (s *session) noteFound() error {
	if s.run.Known.Name == s.project.Name && s.run.KnownBackend == s.backend() {
		return nil
	}
	now := s.toldFound
	now.Project, now.Backend = s.project, s.backend()
	return s.tellFound(now)
}

// noteEmptied notes that a destroy has deleted every resource, so that the stack may be
// gone for good.
func (s *session) noteEmptied() error {
	now := s.toldFound
	now.Emptied = true
	return s.tellFound(now)
}

// tellFound writes to the files of the run, for a recovery that sees them, and tells the
// caller, for one that does not.
func (s *session) tellFound(now run.Found) error {
	if now == s.toldFound {
		return nil
	}
	text, err := json.Marshal(now)
	if err == nil {
		err = os.WriteFile(s.dir.found(), text, 0o600)
	}
	if err != nil {
		return workspaceError{fmt.Errorf("noting what the run has found: %w", err)}
	}
	s.toldFound = now
	if s.driver.Found != nil {
		s.driver.Found(s.run.ID, now)
	}
	return nil
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
		var noted run.Found
		if err == nil {
			err = json.Unmarshal(text, &noted)
		}
		if err != nil {
			return workspaceError{fmt.Errorf("reading what run %s has found: %w", lost.ID, err)}
		}
		s.emptied = s.emptied || noted.Emptied
		if noted.Project.Name != "" {
			s.run.Project, s.run.Known, s.run.KnownBackend = noted.Project, noted.Project, noted.Backend
		}
	}
	return nil
}

// wasElsewhere is the error, to which elsewhereText adds where, if an interrupted run has worked in another backend. One that
// has the stack as well, such as an older copy, does not have the lock of that run or what
// it had in flight.
func (s *session) wasElsewhere() error {
	for _, lost := range s.run.Interrupted {
		if s.run.Known.Name != "" && s.isElsewhere() && lost.Backend == s.run.KnownBackend {
			return fmt.Errorf("run %s was interrupted in another backend, which has its lock and what it had in flight: "+
				"set spec.backend, or the variable PULUMI_BACKEND_URL, back to that until it is recovered from; "+
				"if that backend is gone for good, set spec.destroyOnFinalize to false, delete this Stack and make another", lost.ID)
		}
	}
	return nil
}
