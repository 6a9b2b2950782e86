// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"slices"
)

// recover finds out what interrupted runs have left behind, and heals it. Their
// processes are made to end, their lock is removed, and a refresh settles the
// updates, deletions and reads that were in flight. Creations cannot be settled
// that way: they are found in the state, and in what the runs told before they were
// interrupted, and either reported or, where the spec says so, forgotten.
func (s *session) recover(ctx context.Context) (exit, error) {
	for _, lost := range s.run.Interrupted {
		if err := s.driver.awaitEnd(ctx, lost.ID, s.say); err != nil {
			return exit{}, err
		}
		s.readInterrupted(s.dir.of(lost.ID))
	}
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if s.run.ClearPendingCreates {
		// The refresh clears them in the state, so they are looked up before.
		if last, err := s.lookIntoState(ctx, exit{}, nil); err != nil || last.code != 0 {
			return last, err
		}
		// And named before: nobody could any more, if this is killed after it.
		for _, urn := range s.unknown() {
			s.say("forgetting a creation of unknown outcome: " + urn)
		}
	}
	last, err := s.refresh(ctx)
	if err != nil || last.code == 0 || !s.lockIsLeft(last.stderr) {
		return s.lookIntoState(ctx, last, err)
	}
	s.say("the lock of the stack was left by the run that was interrupted, and is removed")
	last, err = s.call(ctx, command{args: []string{"cancel", "--yes", "--stack", s.stack}})
	if err != nil || last.code != 0 {
		return last, err
	}
	last, err = s.refresh(ctx)
	return s.lookIntoState(ctx, last, err)
}

func (s *session) refresh(ctx context.Context) (exit, error) {
	operation := []string{"refresh"}
	if s.run.ClearPendingCreates {
		operation = append(operation, "--clear-pending-creates")
	}
	if s.run.Options.RunProgram {
		operation = append(operation, "--run-program")
	}
	return s.engine(ctx, operation...)
}

// lookIntoState finds the creations that are pending after the refresh.
func (s *session) lookIntoState(ctx context.Context, refreshed exit, err error) (exit, error) {
	if err != nil || refreshed.code != 0 {
		return refreshed, err
	}
	last, err := s.call(ctx, command{args: []string{"stack", "export", "--stack", s.stack, "--file", s.dir.state()}})
	if err != nil || last.code != 0 {
		return last, err
	}
	pending, err := pendingCreates(s.dir.state())
	s.pending = append(s.pending, pending...)
	return last, err
}

// unknownCreates are the creations of which nobody knows the outcome, sorted: none
// where they have been forgotten.
func (s *session) unknownCreates() []string {
	if s.run.ClearPendingCreates {
		return nil
	}
	return s.unknown()
}

func (s *session) unknown() []string {
	unknown := append(s.events.unknownCreates(), s.pending...)
	unknown = append(unknown, s.run.UnknownCreates...)
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// readInterrupted reads what the run told before it was interrupted. The file is
// not there when the run was on another machine, or had not begun.
func (s *session) readInterrupted(dir Directory) {
	told := &events{mask: s.mask}
	f := &follower{path: dir.events(), events: told, say: func(string) {}}
	f.poll()
	f.close()
	s.pending = append(s.pending, told.unknownCreates()...)
}
