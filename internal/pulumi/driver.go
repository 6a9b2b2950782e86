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
}

// Do does the run and returns when nothing of it is alive. The artifact of its
// program, if it has one, is in the workspace of the directory already.
//
// When ctx is done the run is stopped gently, which takes as long as Grace says:
// an outcome of TimedOut is told from Cancelled by the cause of ctx. log gets a
// line for each operation on a resource and each diagnostic, masked and bounded,
// from one goroutine at a time.
func (d *Driver) Do(ctx context.Context, dir Directory, r run.Run, log func(line string)) run.Result {
	started := time.Now()
	s := &session{driver: d, dir: dir, run: r, log: log}
	s.mask = newMasker(append(slices.Collect(maps.Values(r.Secrets)), r.Masks...))
	s.events = &events{mask: s.mask}

	last, err := s.work(ctx)
	s.endLeftovers()

	result := run.Result{
		Project:   s.project,
		Outputs:   showOutputs(s.events.outputs, s.mask),
		Changes:   s.events.changes(),
		StartedAt: started,
		EndedAt:   time.Now(),
	}
	if !isDIY(r.Backend) {
		result.Permalink = permalink(last.stdout)
	}
	last.stderr = s.mask.apply(last.stderr)
	result.Interrupted = last.byForce()
	result.UnknownCreates = s.unknownCreates()
	outcome, message := judge(ending{
		operation: r.Operation, err: err, last: last, errors: s.events.errors, cause: context.Cause(ctx),
	})
	result.Outcome, result.Message = outcome, cut(s.mask.apply(message), maxMessage)
	return result
}

// session is one run.
type session struct {
	driver *Driver
	dir    Directory
	run    run.Run
	log    func(string)
	mask   *masker

	env     []string
	project run.Project
	events  *events
	// pending are the creations in flight that the state or an earlier run tells
	// of, for a recovery.
	pending []string
	*prepared
}

// work prepares the workspace and calls the CLI as often as it takes.
func (s *session) work(ctx context.Context) (exit, error) {
	prepared, err := s.driver.prepare(ctx, s.dir, s.run)
	if err != nil {
		return exit{}, err
	}
	s.prepared, s.project = prepared, prepared.project
	s.env = s.driver.environment(s.dir, s.run)
	switch s.run.Operation {
	case run.Destroy:
		return s.engine(ctx, "destroy", "--remove")
	case run.Recover:
		return s.recover(ctx)
	}
	return s.update(ctx)
}

// update makes the stack only where it is not known to exist, which saves the
// CLI process that would ask for it.
func (s *session) update(ctx context.Context) (exit, error) {
	if !s.run.Exists {
		return s.createAndApply(ctx)
	}
	last, err := s.apply(ctx)
	if err == nil && last.code == exitStackNotFound {
		return s.createAndApply(ctx)
	}
	return last, err
}

func (s *session) createAndApply(ctx context.Context) (exit, error) {
	args := []string{"stack", "init", "--stack", s.stack, "--no-select"}
	if s.provider != "" {
		// It does not look for the provider in the stack's settings, and would
		// replace it there by the backend's own.
		args = append(args, "--secrets-provider="+s.provider)
	}
	last, err := s.call(ctx, command{args: args})
	if err != nil || (last.code != 0 && !strings.Contains(last.stderr, "already exists")) {
		return last, err
	}
	return s.apply(ctx)
}

// apply sets what only the CLI can encrypt, each key by a process, and updates.
func (s *session) apply(ctx context.Context) (exit, error) {
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
	return s.engine(ctx, "up")
}

// engine calls the CLI for an operation that sends events.
func (s *session) engine(ctx context.Context, operation ...string) (exit, error) {
	return s.call(ctx, command{args: append(operation, "--stack", s.stack, "--yes", "--skip-preview",
		"--suppress-outputs", "--suppress-progress", "--event-log", s.dir.events())})
}

// call calls the CLI. What is known of events afterwards is that call's.
func (s *session) call(ctx context.Context, c command) (exit, error) {
	if err := os.Remove(s.dir.events()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit{}, workspaceError{fmt.Errorf("removing old events: %w", err)}
	}
	s.events = &events{mask: s.mask}
	c.args = append([]string{"--non-interactive", "--color=never"}, c.args...)
	c.dir, c.env, c.pids = s.program, s.env, s.dir.pids()
	c.stdout, c.stderr = s.dir.stdout(), s.dir.stderr()
	c.events = &follower{path: s.dir.events(), events: s.events, say: s.say}
	return s.driver.execute(ctx, c)
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

// say logs a line.
func (s *session) say(line string) {
	s.log(cut(s.mask.apply(line), maxMessage))
}
