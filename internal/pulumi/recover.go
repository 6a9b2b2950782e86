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
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// recover cleans up after interrupted runs. It ends their processes, removes their
// locks, and settles their updates, deletions and reads in flight with a refresh. A
// refresh cannot settle creations: those are found in the state and in the event logs
// of the interrupted runs, and are reported or, if the spec says so, forgotten.
func (s *session) recover(ctx context.Context) (exit, error) {
	for _, lost := range s.run.Interrupted {
		if err := s.driver.awaitEnd(ctx, lost.ID, s.say); err != nil {
			return exit{}, err
		}
		s.readInterrupted(s.dir.of(lost.ID))
	}
	if unknown := s.unknown(); len(unknown) > 0 {
		s.reportUnknownCreates(unknown) // those known only from the files of the run
	}
	if err := s.checkPlace(ctx); err != nil {
		return exit{}, err
	}
	free, err := s.removeLocks()
	if err != nil {
		return exit{}, err
	}
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	last, err := s.settle(ctx, free)
	if err != nil || last.code == 0 || !s.lockIsLeft(last.stderr.Text) {
		s.inspected = err == nil && last.code == 0
		return last, err
	}
	s.say("removing the lock that the interrupted run left")
	last, err = s.call(ctx, command{args: []string{"cancel", "--yes", "--stack", s.stack}})
	if err != nil || last.code != 0 {
		return last, err
	}
	last, err = s.settle(ctx, false)
	s.inspected = err == nil && last.code == 0
	return last, err
}

// settle settles what was in flight. If nothing was, and free says that no lock can be
// left, the state is already in order.
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
		targets = s.hidden(before.targets())
	}
	if last, err = s.refresh(ctx, before.contents, targets, clears); err != nil || last.code != 0 {
		s.unsettled = s.events.began
		s.noteInFlight(before.creates)
		return last, err
	}
	if err := remove(s.dir.settling()); err != nil {
		return last, workspaceError{err}
	}
	// Export again, as another process may have been at work before the refresh.
	after, last, err := s.export(ctx)
	s.pending = append(s.pending, after.creates...)
	return last, err
}

// hidden returns URNs with a wildcard for each secret in them: the flags of a process are
// for everyone on its machine to read. Pulumi's ** matches any text.
func (s *session) hidden(urns []string) []string {
	masked := s.masked(urns)
	for i := range masked {
		masked[i] = strings.ReplaceAll(masked[i], mask.MaskText, "**")
	}
	return masked
}

// refresh refreshes the targets, or everything if there are none. It runs only if it
// has to: a recovery should not absorb changes made behind Pulumi's back.
//
// It is the last step of a recovery, so that processes are ended and locks removed
// whether or not the program can be run.
func (s *session) refresh(ctx context.Context, before contents, targets []string, clears bool) (exit, error) {
	s.learnBefore(ctx, &before)
	if len(targets) == 0 || slices.ContainsFunc(targets, isDynamicURN) {
		if last, err := s.bringProgram(ctx, before.dynamic); err != nil || last.code != 0 {
			return last, err
		}
	}
	if last, err := s.install(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if err := os.WriteFile(s.dir.settling(), nil, 0o600); err != nil {
		return exit{}, workspaceError{fmt.Errorf("recording that the stack is being recovered: %w", err)}
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

// again reports whether a refresh that was to settle operations in flight may not have
// completed. Its first snapshot drops those operations from the state, and nothing else
// records what they were. A run that was to inspect first may have created the stack
// itself, which only its files say.
func (s *session) again() bool {
	return slices.ContainsFunc(s.run.Interrupted, func(lost run.Interrupted) bool {
		dir := s.dir.of(lost.ID)
		return lost.Operation == run.Recover || exists(dir.settling()) || (s.run.InspectFirst && !exists(dir.prepared()))
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// readInterrupted reads the events of an interrupted run. There are none if the run was
// on another machine or had not started.
func (s *session) readInterrupted(dir Directory) {
	earlier := &events{mask: s.mask}
	f := &follower{path: dir.events(), events: earlier, say: func(string) {}}
	f.poll()
	f.close()
	// Count it as asked to stop, if only because its controller was gone.
	s.pending = append(s.pending, earlier.unknownCreates(true)...)
}
