// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Driver does runs with the Pulumi CLI. It holds settings only: one Driver does
// any number of runs at a time.
type Driver struct {
	// Bin is the directory of the pulumi program and of its language hosts.
	Bin string
	// Path are the directories after Bin in the PATH of a run.
	Path []string
	// Cache is the directory of the plugins and schemas that all runs share.
	Cache string
	// PassEnv are variables of the controller that every run gets: proxies and
	// certificate authorities. A spec may set them to something else.
	PassEnv map[string]string
	// NoPluginDownload has Pulumi fail where a plugin is not installed.
	NoPluginDownload bool
	// Grace is how long the steps of stopping a run may take.
	Grace Grace
	// Progress, where it is set, is told how far each run has come, from one
	// goroutine at a time for a run.
	Progress func(runID string, progress run.Progress) `json:"-"`
	// UnknownCreates, where it is set, is told of the creations of unknown outcome of
	// a run as soon as its events show one, sorted, and of all of them again when they
	// show another. They are among Result.UnknownCreates in the end. It is called as
	// Progress is.
	UnknownCreates func(runID string, urns []string) `json:"-"`
}

// Do does the run and returns when nothing of it is alive. The artifact of its
// program, if it has one, is in the workspace of the directory already.
//
// When ctx is done the run is stopped gently, which takes as long as Grace says:
// an outcome of TimedOut is told from Cancelled by the cause of ctx. log gets a
// line for each operation on a resource as it goes on, and one for each diagnostic
// in the end, masked and bounded, from one goroutine at a time.
func (d *Driver) Do(ctx context.Context, dir Directory, r run.Run, log func(line string)) run.Result {
	started := time.Now()
	s := &session{driver: d, dir: dir, run: r, log: log}
	s.mask = maskerOf(r)
	s.mask.Follow(r.LateMasks)
	s.events = &events{mask: s.mask}

	last, err := s.work(ctx)
	s.disclose(ctx, last)
	s.endLeftovers()

	result := run.Result{Project: s.project, Changes: s.events.changes(), StartedAt: started, EndedAt: time.Now()}
	if r.Look && !s.looked {
		result.Changes = run.Changes{} // a refresh may have counted some of the resources
	}
	if !grammar.IsDIY(r.Backend) {
		result.Permalink = permalink(last.stdout.text)
	}
	end := ending{
		operation: r.Operation, err: err, last: last, stderr: last.stderr.masked(s.mask), events: *s.events, checked: s.checking,
		missing: s.missed && !s.found, held: s.heldLocks, installing: s.installing, cause: context.Cause(ctx),
	}
	if s.installing {
		end.stdout = last.stdout.masked(s.mask)
	}
	if last.code != 0 {
		end.disk = dir.probe()
	}
	if last.code != 0 && !s.installing {
		end.unread = s.unreadLocks()
	}
	outcome, message := judge(end)
	if outcome != run.Succeeded {
		message += s.openText() + s.elsewhereText()
	}
	result.Outcome, result.Message = outcome, cut(s.mask.Apply(message), maxMessage)
	if s.checking {
		// What the events tell of was not done.
		result.Changes = run.Changes{}
	}
	if result.Outcome == run.Succeeded {
		result.Plain = s.plain
	}
	result.Steps, result.StepsLeftOut = s.steps()
	if r.Operation == run.Preview || r.Operation == run.ReadOutputs || s.checking {
		// Nothing was changed, so that nothing can have been left half done, and the
		// outputs of the events are not those of the state.
		return result
	}
	if s.found && (!r.Look || s.looked) {
		result.Backend = s.backend()
	}
	result.Outputs = showOutputs(s.events.outputs, s.mask, s.writtenNames())
	result.LeftOut = len(s.events.outputs) - len(result.Outputs)
	result.Interrupted = (last.byForce() && !s.installing) || s.unsettled
	result.UnknownCreates, result.Forgotten = s.unknownCreates(outcome)
	result.Inventory = s.inventory(outcome)
	return result
}

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
	// plain are the outputs that were wanted in plain.
	plain *run.PlainOutputs
	*prepared
}

// work prepares the workspace and calls the CLI as often as it takes.
func (s *session) work(ctx context.Context) (exit, error) {
	prepared, err := s.driver.prepare(ctx, s.dir, s.run)
	if err != nil {
		return exit{}, err
	}
	s.prepared, s.project = prepared, prepared.project
	s.mask.Learn(prepared.secrets)
	s.env = s.driver.environment(s.dir, s.run)
	if err := os.WriteFile(s.dir.backend(), []byte(s.backend()), 0o600); err != nil {
		return exit{}, workspaceError{fmt.Errorf("noting the backend of the run: %w", err)}
	}
	if s.run.Operation == run.Recover {
		return s.recover(ctx)
	}
	if last, err := s.install(ctx); err != nil || last.code != 0 {
		return last, err
	}
	switch s.run.Operation {
	case run.Destroy:
		return s.destroy(ctx)
	case run.Preview:
		return s.apply(ctx)
	case run.ReadOutputs:
		return s.readOutputs(ctx)
	}
	last, err := s.update(ctx)
	if err == nil && last.code == 0 {
		s.takeOutputs(ctx)
	}
	return last, err
}

// destroy is not bound to the targets: it is for all of a stack that is to go.
func (s *session) destroy(ctx context.Context) (exit, error) {
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if last, err := s.lookFirst(ctx); err != nil || last.code != 0 {
		return last, err
	}
	return s.engine(ctx, append([]string{"destroy", "--remove"}, refreshFlags(s.run.Options)...)...)
}

// update makes the stack only where it is not known to exist, which saves the
// CLI process that would ask for it.
func (s *session) update(ctx context.Context) (exit, error) {
	if !s.run.Exists && !s.run.MustExist && !s.run.NoCreate && s.run.KnownBackend == "" {
		return s.createAndApply(ctx)
	}
	last, err := s.apply(ctx)
	if err != nil || last.code != exitStackNotFound {
		return last, err
	}
	return s.createAndApply(ctx)
}

func (s *session) createAndApply(ctx context.Context) (exit, error) {
	args := []string{"stack", "init", "--stack", s.stack, "--no-select"}
	if s.provider != "" {
		// It does not look for the provider in the stack's settings, and would
		// replace it there by the backend's own.
		args = append(args, "--secrets-provider="+s.provider)
	}
	last, err := s.call(ctx, command{args: args})
	if err != nil || (last.code != 0 && !strings.Contains(last.stderr.text, "already exists")) {
		return last, err
	}
	if last.code == 0 {
		// There is nothing yet that anybody could have changed.
		s.run.Options.ExpectNoRefreshChanges = false
		s.looked = true
	}
	return s.apply(ctx)
}

// apply updates, or tells what an update would do.
func (s *session) apply(ctx context.Context) (exit, error) {
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if last, err := s.lookFirst(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if s.run.Options.Refresh && s.run.Options.ExpectNoRefreshChanges {
		if last, err := s.check(ctx); err != nil || last.code != 0 {
			return last, err
		}
	}
	flags := append(refreshFlags(s.run.Options), targetFlags(s.run.Options)...)
	if s.run.Operation == run.Preview {
		return s.look(ctx, append([]string{"preview"}, flags...)...)
	}
	return s.engine(ctx, append([]string{"up"}, flags...)...)
}

// check looks for changes that were made behind Pulumi's back. The flag of an
// update, or of a real refresh, that expects none finds them only after it has
// written them into the state, where the next run would take them as known. This
// neither writes nor locks.
func (s *session) check(ctx context.Context) (exit, error) {
	flags := append([]string{"refresh", "--preview-only", "--expect-no-changes"}, targetFlags(s.run.Options)...)
	if s.run.Options.RunProgram {
		flags = append(flags, "--run-program")
	}
	last, err := s.look(ctx, flags...)
	if err == nil && last.code == exitHasChanges && s.events.onlyProvidersChanged() {
		last.code = 0
	}
	s.checking = err != nil || last.code != 0
	return last, err
}

// setSecrets sets what only the CLI can encrypt, each key by a process.
func (s *session) setSecrets(ctx context.Context) (exit, error) {
	for _, key := range slices.Sorted(maps.Keys(s.unencrypted)) {
		last, err := s.call(ctx, command{
			args: []string{"config", "set", "--secret", "--stack", s.stack, "--", key},
			// The CLI takes one newline from the end.
			stdin: s.unencrypted[key] + "\n",
		})
		if err != nil || last.code != 0 {
			return last, err
		}
	}
	return exit{}, nil
}

// refreshFlags are for an operation that may read what really exists first.
func refreshFlags(options run.Options) []string {
	var flags []string
	if options.Refresh {
		flags = append(flags, "--refresh")
	}
	if options.RunProgram {
		flags = append(flags, "--run-program")
	}
	return flags
}

// targetFlags are for an operation on some of the resources.
func targetFlags(options run.Options) []string {
	var flags []string
	for _, urn := range options.Targets {
		flags = append(flags, "--target="+urn)
	}
	if len(flags) > 0 && options.TargetDependents {
		flags = append(flags, "--target-dependents")
	}
	return flags
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
