// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// session is one run.
type session struct {
	driver *Driver
	dir    Directory
	run    run.Run
	log    func(string)
	mask   *mask.Masker

	env     []string
	project run.Project
	events  *events
	// found says that the backend has, or had, the stack, and missed that it was
	// asked for and is not there.
	found, missed bool
	// stopped says that the last call of the CLI was told to stop.
	stopped bool
	// changing says that the call of the CLI may change something: what a preview
	// creates is nothing.
	changing bool
	// checking says that the last call of the CLI was the one that looks for
	// changes that are not expected.
	checking bool
	// unsettled says that the refresh of a recovery did not get to its end.
	unsettled bool
	// heldLocks are the locks of a file backend that a recovery has left alone.
	heldLocks []string
	// looked says that the stack was looked at, for a run that is to, or was made.
	looked bool
	// pending are the creations in flight that the state or an earlier run tells
	// of, for a recovery.
	pending []string
	// inFlight are the creations that the state tells of, where it is not known that
	// they are nobody's: who has the lock may be at work on them.
	inFlight []string
	// state is the one that was exported last, where nothing was changed since.
	state *state
	// installing says that the dependencies of the program are being installed, or could
	// not be, and installed that they are.
	installing, installed bool
	// held are the diagnostics that are yet to be logged.
	held heldLines
	// disclosed says that the secrets of the state were read, or should have been, for the
	// diagnostics.
	disclosed bool
	// ids masks the secrets of the state in IDs, if they were read for this alone. idsUnread
	// says that they could not be read.
	ids       *mask.Masker
	idsUnread bool
	// plain are the outputs that were wanted in plain.
	plain *run.PlainOutputs
	*prepared
}

// engine calls the CLI for an operation that changes something.
func (s *session) engine(ctx context.Context, operation ...string) (exit, error) {
	s.changing, s.state = true, nil
	defer func() { s.changing = false }()
	return s.look(ctx, append(operation, "--yes", "--skip-preview")...)
}

// look calls the CLI for an operation that sends events.
func (s *session) look(ctx context.Context, operation ...string) (exit, error) {
	return s.call(ctx, command{args: append(operation, "--stack", s.stack,
		"--suppress-outputs", "--suppress-progress", "--event-log", s.dir.events())})
}

// call calls the CLI for the stack. What is known of events afterwards is that
// call's. It is an error where the stack is not in the backend and should be.
func (s *session) call(ctx context.Context, c command) (exit, error) {
	if err := os.Remove(s.dir.events()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit{}, workspaceError{fmt.Errorf("removing old events: %w", err)}
	}
	s.events = &events{mask: s.mask, hold: s.held.add}
	if s.run.Steps {
		s.events.planned = &plannedSteps{}
	}
	c.args = append([]string{"--non-interactive", "--color=never"}, c.args...)
	c.dir, c.env, c.pids, c.abort = s.program, s.env, s.dir.pids(), s.run.Abort
	c.stdout, c.stderr = s.dir.stdout(), s.dir.stderr()
	c.events = &follower{path: s.dir.events(), events: s.events, say: s.say, tell: s.tell}
	if s.changing {
		c.events.tellUnknown = s.tellUnknown
	}
	last, err := s.driver.execute(ctx, c)
	s.stopped = last.stopped
	if err != nil || last.code != exitStackNotFound {
		s.found = s.found || s.events.began || (err == nil && last.code == 0)
		return last, err
	}
	s.missed = true
	return last, s.missing()
}

// endLeftovers makes sure that nothing of the run lives on: a CLI that is killed
// leaves its providers, which are in groups of their own.
func (s *session) endLeftovers() {
	count, err := endLeftovers(s.run.ID, s.driver.Grace.withDefaults().Kill)
	if err != nil {
		s.say(fmt.Sprintf("ending what the run left behind: %v", err))
	}
	if count > 0 {
		s.say(fmt.Sprintf("ended %d processes that the run left behind", count))
	}
}

// tell passes on how far the call of the CLI has come.
func (s *session) tell(progress run.Progress) {
	if s.driver.Progress != nil {
		s.driver.Progress(s.run.ID, progress)
	}
}

// tellUnknown passes on which creations nobody knows the outcome of. The result has
// them too, but the operation may go on for as long as others take, and who waits for
// the result may not live to see it.
func (s *session) tellUnknown(urns []string) {
	if s.driver.UnknownCreates != nil {
		s.driver.UnknownCreates(s.run.ID, urns)
	}
}

// say logs a line.
func (s *session) say(line string) {
	s.log(cut(s.mask.Apply(line), maxMessage))
}
