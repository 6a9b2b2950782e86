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

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
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
	// stackFound is set if the backend has, or had, the stack; stackMissing, if the CLI did not
	// find it there.
	stackFound, stackMissing bool
	// stopped is set if the last CLI call was asked to stop.
	stopped bool
	// changing is set during a CLI call that may change something. A preview creates
	// nothing.
	changing bool
	// creating is set while the stack is being created and after that failed.
	creating bool
	// starting is set during a CLI call that runs the program.
	starting bool
	// checking is set if the last CLI call was the check for unexpected changes, or the
	// preview of a program that a compiler prints.
	checking bool
	// previewing is set during the preview of an update.
	previewing bool
	// unsettled is set if the refresh of a recovery did not complete.
	unsettled bool
	// heldLocks are the locks in a file backend that a recovery left alone.
	heldLocks []string
	// reportedFound is what was reported of the stack, and emptied says that one of the interrupted
	// runs had deleted every resource.
	reportedFound run.Found
	emptied       bool
	// inspected is set once the stack was inspected for a run that needs it, or was
	// created.
	inspected bool
	// refreshed is set once the stack was refreshed apart from the operation that was to
	// refresh it.
	refreshed bool
	// pending are the creations in flight known from the state or an earlier run, for a
	// recovery.
	pending []string
	// inFlight are the creations in flight in the state that may still have an owner:
	// whoever holds the lock may be working on them.
	inFlight []string
	// stop, if set, stops the current CLI call because of what it has started, or would repeat.
	stop func(cause error)
	// state is the last export, nil once a call may have changed the state since.
	state *state
	// installing is set while the program's dependencies are being installed and after
	// that failed; installed, once it succeeded.
	installing, installed bool
	// restored is set if they were copied from a snapshot.
	restored bool
	// compiling is set while a program in Go is being compiled and after that failed; isBuilt, once
	// its executable is there. goCache has its modules, nil for the program of another language.
	compiling, isBuilt bool
	goCache            *snapshot.Cache
	// typeCheck is the check of the program's types that this run makes, nil for none that is
	// remembered.
	typeCheck *snapshot.ID
	// warnings are what a person should know of a run that succeeds, masked and bounded.
	warnings []string
	// deferred are the diagnostics still to be logged.
	deferred deferredLines
	// learned is set once the masks know the secrets that the state had before the engine
	// deleted any resource, and known if they know those that it has after the run. unread is why
	// the secrets of the state could not be read, and withheld what is then shown instead of the
	// output of Pulumi.
	learned  bool
	known    bool
	unread   error
	withheld string
	// lacking is set if the state has resources of a dynamic provider, and the run does not
	// have their program. It says so, and what to do about it.
	lacking string
	// removed is set once the stack is removed from the backend.
	removed bool
	// oomKills is how many processes of the container had been killed for exceeding its
	// memory limit before the run.
	oomKills int
	// planKey is the key of the digests in the plan.
	planKey []byte
	// goals has what only the plan of Pulumi says of the last preview, nil if none was saved.
	goals *goals
	// held is the plan of Pulumi to which the update is held, with secrets in plain text. Empty if
	// it is held to none.
	held string
	// approved are the steps of the plan that the run is watched for, nil if it is not.
	approved *approvedSteps
	// planning is set during the preview of which the plan is made, and made is the plan, if it
	// is to be returned.
	planning bool
	made     *plan.Plan
	// packs are the policy packs of the run. updating is set during the update with which Pulumi
	// loads them.
	packs    []*policyPack
	updating bool
	// updated is set once an update has begun, after its preview.
	updated bool
	// proven is set once the events of the preview of that update say that Pulumi has loaded each
	// pack, and unproven is why the update is stopped if they do not.
	proven   bool
	unproven error
	// unready says which packs were not ready when the run was stopped.
	unready string
	// isPack is set for the session that installs a policy pack.
	isPack bool
	// ignore is the drift that does not count.
	ignore drift.Ignore
	// plain are the outputs requested in plain text.
	plain *run.PlainOutputs
	*prepared
}

// engine calls the CLI for an operation that changes something.
func (s *session) engine(ctx context.Context, operation ...string) (exit, error) {
	if s.isFound() {
		if err := s.noteFound(ctx); err != nil {
			return exit{}, err
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.changing, s.updating, s.state, s.stop = true, operation[0] == "up", nil, stop
	defer func() { s.changing, s.updating, s.stop = false, false, nil }()
	last, err := s.withEvents(ctx, append(operation, s.consent()...)...)
	s.updated = s.updated || s.updating && s.events.began && !s.events.preview
	s.endPreview(last)
	s.pending = append(s.pending, s.events.leftCreates...)
	switch {
	case s.unproven != nil:
		err = s.unproven
	case err != nil:
	case len(s.events.leftCreates) > 0:
		err = errPending
	default:
		err = s.events.refusal()
	}
	return last, err
}

// withEvents calls the CLI for an operation that emits events.
func (s *session) withEvents(ctx context.Context, operation ...string) (exit, error) {
	s.starting = operation[0] == "up" || operation[0] == "preview" || slices.Contains(operation, "--run-program")
	defer func() { s.starting = false }()
	last, err := s.call(ctx, command{args: append(operation, "--stack", s.stack,
		"--suppress-outputs", "--suppress-progress", "--event-log", s.dir.events())})
	if err == nil && last.code == 0 && s.events.summary == nil {
		// The CLI ignores errors of writing its events, as on a full disk, and the summary
		// is the last that it writes.
		s.events.missed = true
		s.say("the events of Pulumi are incomplete")
	}
	isProven := s.updating && s.proven && s.events.summary == nil // which has lost its events, as on a full disk
	if err == nil && last.code == 0 && loadsPacks(operation) && !isProven {
		err = s.provePacks()
	}
	return last, err
}

// call calls the CLI for the stack and resets s.events to the events of this call. It
// fails if the stack should be in the backend and is not, and if the next call would take
// the lock of this one for someone else's.
func (s *session) call(ctx context.Context, c command) (exit, error) {
	if err := os.Remove(s.dir.events()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit{}, workspaceError{fmt.Errorf("removing old events: %w", err)}
	}
	// The diagnostics of all calls are shown together, so that a secret of any counts.
	s.events = s.newEvents()
	s.events.preview = s.previews()
	if s.run.WantsPlan || s.planning {
		s.events.planned = &plannedSteps{read: s.valueReader()}
	}
	if s.changing && s.held == "" { // or the CLI previews first
		s.events.planned = s.doneSteps()
	}
	if s.planning {
		s.events.plugins.configs = &providerConfigs{read: s.valueReader()}
	}
	if s.checksDrift() {
		s.events.drifted = &drifted{ignore: s.ignore, found: plannedSteps{read: s.valueReader()}}
	}
	if s.planning && s.run.Approved != "" {
		s.events.previewed = &approvedSteps{}
	}
	c.args = append([]string{"--non-interactive", "--color=never"}, c.args...)
	c.dir, c.env, c.pids, c.abort = s.program, s.env, s.dir.pids(), s.run.Abort
	c.stdout, c.stderr = s.dir.stdout(), s.dir.stderr()
	c.events = &follower{path: s.dir.events(), events: s.events, say: s.say, onProgress: s.reportProgress}
	if len(s.packs) > 0 {
		c.events.endPacks = s.endStartingPacks
	}
	if s.changing && s.held != "" {
		c.stdin = s.held
	}
	if s.previewsFirst() {
		s.previewFirst(c.events)
	}
	if s.changing {
		c.events.onUnknownCreates, c.events.onStart = s.reportUnknownCreates, func() { s.reportStart(ctx) }
		c.events.stopCreating = func() { s.stop(errPending) }
	}
	if s.events.approved != nil {
		c.events.stopOther = func() { s.stop(s.events.refusal()) }
	}
	var err error
	if c.sandbox, err = s.confine(s.dir.events(), s.dir.state()); err != nil {
		return exit{}, err
	}
	last, err := s.driver.execute(ctx, c)
	s.stopped = last.stopped
	if err != nil || last.code != exitStackNotFound {
		s.stackFound = s.stackFound || s.events.began || (err == nil && last.code == 0)
		if err == nil && last.code == 0 && last.leavesLock() {
			err = errLockLeft
		}
		return last, err
	}
	s.stackMissing = true
	return last, s.missing()
}

// newEvents are those of a call of the CLI, or of the update in a call that previews first.
func (s *session) newEvents() *events {
	made := &events{mask: s.mask, deferLog: s.deferred.add, startsProgram: s.starting, secrets: s.events.secrets}
	if s.changing {
		made.approved = s.approved
	}
	return made
}

// endLeftovers ends every process of the run that is still alive: a killed CLI leaves
// behind its providers, which are in process groups of their own.
func (s *session) endLeftovers() {
	count, err := process.EndMarked(markOf(s.run.ID), s.driver.Grace.withDefaults().Kill)
	if err != nil {
		s.say(fmt.Sprintf("ending what the run left behind: %v", err))
	}
	if count > 0 {
		s.say("ended " + plural.Of(count, "process", "processes") + " that the run left behind")
	}
}

// reportProgress reports the progress of the CLI call.
func (s *session) reportProgress(progress run.Progress) {
	if s.previewing || s.checksDrift() {
		progress = run.Progress{Waiting: progress.Waiting} // nothing is done
	}
	if s.run.Reporter != nil {
		s.run.Reporter.Progress(progress)
	}
}

// reportStart reports that the engine is at work, and so the stack is there.
func (s *session) reportStart(ctx context.Context) {
	if !s.isInspected() {
		return
	}
	if err := s.noteFound(ctx); err != nil {
		s.say(err.Error())
	}
}

// reportUnknownCreates reports the creations with unknown outcome right away. The result has
// them too, but other resources may keep the operation going, and whoever waits for the
// result may not live to see it.
func (s *session) reportUnknownCreates(urns []string) {
	if s.run.Reporter != nil {
		s.run.Reporter.UnknownCreates(s.masked(urns))
	}
}

func (s *session) say(line string) {
	s.log(bounded.Text(s.mask.Apply(line), maxMessage))
}
