// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// recover finds out what interrupted runs have left behind, and heals it. Their
// processes are made to end, their locks are removed, and a refresh of what they
// had in flight settles updates, deletions and reads. Creations cannot be settled
// that way: they are found in the state, and in what the runs told before they were
// interrupted, and either reported or, where the spec says so, forgotten.
func (s *session) recover(ctx context.Context) (exit, error) {
	for _, lost := range s.run.Interrupted {
		if err := s.driver.awaitEnd(ctx, lost.ID, s.say); err != nil {
			return exit{}, err
		}
		s.readInterrupted(s.dir.of(lost.ID))
	}
	if unknown := s.unknown(); len(unknown) > 0 {
		s.tellUnknown(unknown) // those that nothing but the files of the run tell of
	}
	free, err := s.removeLocks()
	if err != nil {
		return exit{}, err
	}
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	last, err := s.settle(ctx, free)
	if err != nil || last.code == 0 || !s.lockIsLeft(last.stderr.text) {
		s.looked = err == nil && last.code == 0
		return last, err
	}
	s.say("the lock of the stack was left by the run that was interrupted, and is removed")
	last, err = s.call(ctx, command{args: []string{"cancel", "--yes", "--stack", s.stack}})
	if err != nil || last.code != 0 {
		return last, err
	}
	last, err = s.settle(ctx, false)
	s.looked = err == nil && last.code == 0
	return last, err
}

// settle settles what was in flight. Without anything of that kind, and with free
// saying that no lock can be left, the state is as it should be.
func (s *session) settle(ctx context.Context, free bool) (exit, error) {
	s.inFlight = nil
	before, last, err := s.export(ctx)
	if err != nil || last.code != 0 {
		return last, err
	}
	clears := s.clears(before.creates)
	if clears {
		for _, urn := range s.unknown() {
			s.say("forgetting a creation of unknown outcome: " + urn)
		}
	}
	again := s.again()
	if free && before.settled() && !again {
		return last, nil
	}
	var targets []string
	if !again {
		targets = before.targets()
	}
	if last, err = s.refresh(ctx, targets, clears); err != nil || last.code != 0 {
		s.unsettled = s.events.began
		s.noteInFlight(before.creates)
		return last, err
	}
	if err := remove(s.dir.settling()); err != nil {
		return last, workspaceError{err}
	}
	// Once more, as another process may have been at work before the refresh.
	after, last, err := s.export(ctx)
	s.pending = append(s.pending, after.creates...)
	return last, err
}

// refresh looks at the targets, or at all there is. It does so only where it has
// to: what was changed behind Pulumi's back is not for a recovery to take in.
//
// A recovery comes here last: what lives on is ended, and locks are removed, whether or not
// the program can be run.
func (s *session) refresh(ctx context.Context, targets []string, clears bool) (exit, error) {
	if last, err := s.install(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if err := os.WriteFile(s.dir.settling(), nil, 0o600); err != nil {
		return exit{}, workspaceError{fmt.Errorf("noting that the stack is being settled: %w", err)}
	}
	operation := append([]string{"refresh"}, targetFlags(run.Options{Targets: targets})...)
	if clears {
		operation = append(operation, "--clear-pending-creates")
	}
	if s.run.Options.RunProgram {
		operation = append(operation, "--run-program")
	}
	return s.engine(ctx, operation...)
}

func (s *session) export(ctx context.Context) (state, exit, error) {
	last, err := s.call(ctx, command{args: []string{"stack", "export", "--stack", s.stack, "--file", s.dir.state()}})
	if err != nil || last.code != 0 {
		return state{}, last, err
	}
	read, err := readState(s.dir.state())
	if err == nil {
		s.state = &read
	}
	return read, last, err
}

// again tells that a refresh which was to settle what was in flight may not have got
// to its end. Its first snapshot drops the operations that were in flight, and nothing
// tells any more what they were about. A run that was to look may have made the stack
// itself, which is known only by its files.
func (s *session) again() bool {
	return slices.ContainsFunc(s.run.Interrupted, func(lost run.Interrupted) bool {
		dir := s.dir.of(lost.ID)
		return lost.Operation == run.Recover || exists(dir.settling()) || (s.run.Look && !exists(dir.backend()))
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// readInterrupted reads what the run told before it was interrupted. The files are
// not there when the run was on another machine, or had not begun.
func (s *session) readInterrupted(dir Directory) {
	told := &events{mask: s.mask}
	f := &follower{path: dir.events(), events: told, say: func(string) {}}
	f.poll()
	f.close()
	// It was told to stop, if only because nobody was there any more to let it go on.
	s.pending = append(s.pending, told.unknownCreates(true)...)
	if backend, err := os.ReadFile(dir.backend()); err == nil && told.began {
		// The engine only begins with a stack that it has found.
		s.run.KnownBackend = string(backend)
	}
}
