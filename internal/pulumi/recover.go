// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
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
	free, err := s.removeLocks()
	if err != nil {
		return exit{}, err
	}
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	last, err := s.settle(ctx, free)
	if err != nil || last.code == 0 || !s.lockIsLeft(last.stderr) {
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
	before, last, err := s.export(ctx)
	if err != nil || last.code != 0 {
		return last, err
	}
	if s.run.ClearPendingCreates {
		// The refresh clears them in the state. Named before: nobody could any more, if
		// this is killed after it.
		s.pending = append(s.pending, before.creates...)
		for _, urn := range s.unknown() {
			s.say("forgetting a creation of unknown outcome: " + urn)
		}
	}
	// The first snapshot of a refresh drops the operations that were in flight. One
	// that did not get to its end leaves nothing to tell what it was about.
	again := len(s.run.Interrupted) > 1
	if free && before.settled() && !again {
		return last, nil
	}
	var targets []string
	if !again {
		targets = before.targets()
	}
	if last, err = s.refresh(ctx, targets); err != nil || last.code != 0 {
		s.unsettled = s.events.began
		return last, err
	}
	// Once more, as another process may have been at work before the refresh.
	after, last, err := s.export(ctx)
	s.pending = append(s.pending, after.creates...)
	return last, err
}

// refresh looks at the targets, or at all there is. It does so only where it has
// to: what was changed behind Pulumi's back is not for a recovery to take in.
func (s *session) refresh(ctx context.Context, targets []string) (exit, error) {
	operation := append([]string{"refresh"}, targetFlags(run.Options{Targets: targets})...)
	if s.run.ClearPendingCreates {
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
	return read, last, err
}

// unknownCreates are the creations of which nobody knows the outcome, sorted, and
// those that are forgotten. What a recovery was to forget that has failed stays to
// be told of by the next one: the state may not have it any more.
func (s *session) unknownCreates(outcome run.Outcome) (unknown, forgotten []string) {
	if s.run.ClearPendingCreates && outcome == run.Succeeded {
		return nil, s.unknown()
	}
	return s.unknown(), nil
}

func (s *session) unknown() []string {
	unknown := slices.Concat(s.events.unknownCreates(s.stopped), s.pending, s.run.UnknownCreates)
	slices.Sort(unknown)
	return slices.Compact(unknown)
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
