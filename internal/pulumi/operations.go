// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// work prepares the workspace and makes the CLI calls that the operation needs.
func (s *session) work(ctx context.Context) (exit, error) {
	if !run.IsKnown(s.run.Operation) {
		return exit{}, fmt.Errorf("this version of pulumi-controller does not know the operation %q: the controller that has started the run has a later one", s.run.Operation)
	}
	if err := s.readFound(); err != nil {
		return exit{}, err
	}
	if err := s.prepare(ctx); err != nil {
		return exit{}, err
	}
	if err := os.WriteFile(s.dir.prepared(), nil, 0o600); err != nil {
		return exit{}, workspaceError{fmt.Errorf("recording that the run is prepared: %w", err)}
	}
	if s.run.Operation == run.Recover {
		return s.recover(ctx)
	}
	if err := s.preparePacks(ctx); err != nil {
		return exit{}, err
	}
	if last, err := s.install(ctx); err != nil || last.code != 0 {
		return last, err
	}
	switch s.run.Operation {
	case run.Destroy, run.ProposeDestroy:
		return s.destroy(ctx)
	case run.Preview, run.CheckPolicies:
		return s.apply(ctx)
	case run.ReadOutputs:
		return s.readOutputs(ctx)
	case run.CheckDrift:
		return s.checkDrift(ctx)
	}
	last, err := s.update(ctx)
	if err == nil && last.code == 0 && !s.proposes() {
		s.takeOutputs(ctx)
	}
	return last, err
}

// isPreview reports whether the operation is a pulumi preview whose changes are its result.
func isPreview(operation run.Operation) bool {
	return operation == run.Preview || operation == run.CheckPolicies
}

func (s *session) prepare(ctx context.Context) error {
	prepared, err := s.driver.prepare(ctx, s.dir, s.run)
	if err != nil {
		return err
	}
	s.prepared, s.project = prepared, prepared.project
	s.mask.AddSecrets(prepared.secrets)
	s.env = s.driver.environment(s.dir, s.run)
	return nil
}

// destroy ignores the targets: it removes the whole stack. It does that in two steps, so
// that a stack that is missing after a destroy was interrupted is known to be gone, and not
// taken for it in a backend that has lost its state.
func (s *session) destroy(ctx context.Context) (exit, error) {
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if last, err := s.inspectFirst(ctx); err != nil || last.code != 0 {
		return last, err
	}
	before := s.learnBefore(ctx, s.knownContents())
	if last, err := s.bringProgram(ctx, before.dynamic); err != nil || last.code != 0 {
		return last, err
	}
	if last, err := s.refreshApart(ctx, s.run.Options.Refresh && !s.proposes()); err != nil || last.code != 0 {
		return last, err
	}
	flags := s.refreshFlags()
	if s.alwaysRefreshes && !s.run.Options.Refresh {
		// The same for a destroy with the Pulumi.yaml of the program as for one without.
		flags = append(flags, "--refresh=false")
	}
	mayProceed, last, err := s.holdToPlan(ctx, append([]string{"destroy", "--preview-only"}, flags...)...)
	if !mayProceed {
		return last, err
	}
	last, err = s.engine(ctx, append([]string{"destroy"}, flags...)...)
	if err != nil || last.code != 0 {
		return last, err
	}
	if err := s.noteEmptied(ctx); err != nil {
		return exit{}, err
	}
	done := s.events
	defer func() { s.events = done }()
	last, err = s.call(ctx, command{args: []string{"stack", "rm", "--yes", "--stack", s.stack}})
	s.removed = err == nil && last.code == 0
	return last, err
}

// update creates the stack only if it is not known to exist, which saves the CLI
// process that would ask.
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
		// stack init does not look for the provider in the stack's settings file and
		// would overwrite it there with the backend's default.
		args = append(args, "--secrets-provider="+s.provider)
	}
	s.creating = true
	last, err := s.call(ctx, command{args: args})
	if err != nil || (last.code != 0 && !strings.Contains(last.stderr.Text, "already exists")) {
		return last, err
	}
	s.creating = false
	if last.code == 0 {
		// A new stack has nothing yet that anybody could have changed.
		s.run.Options.ExpectNoRefreshChanges = false
		s.inspected, s.state = true, &state{}
	}
	return s.apply(ctx)
}

// apply runs an update or a preview.
func (s *session) apply(ctx context.Context) (exit, error) {
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if last, err := s.inspectFirst(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if last, err := s.keepResources(ctx); err != nil || last.code != 0 {
		return last, err
	}
	refreshes := s.run.Options.Refresh || s.alwaysRefreshes
	if refreshes && s.run.Options.ExpectNoRefreshChanges {
		if last, err := s.check(ctx); err != nil || last.code != 0 {
			return last, err
		}
	}
	if isPreview(s.run.Operation) {
		return s.preview(ctx, slices.Concat([]string{"preview"}, s.refreshFlags(), targetFlags(s.run.Options), s.policyFlags()))
	}
	if last, err := s.keepCompiled(ctx); err != nil || last.code != 0 {
		return last, err
	}
	if last, err := s.refreshApart(ctx, refreshes && !s.proposes()); err != nil || last.code != 0 {
		return last, err
	}
	flags := slices.Concat(s.refreshFlags(), targetFlags(s.run.Options), s.policyFlags())
	mayProceed, last, err := s.holdToPlan(ctx, append([]string{"preview"}, flags...)...)
	if !mayProceed {
		return last, err
	}
	return s.compiled(s.engine(ctx, append([]string{"up"}, flags...)...))
}

// preview finds out what an update would do. If the plan is to be compared with that of an update, it is
// made as that is.
func (s *session) preview(ctx context.Context, preview []string) (exit, error) {
	switch {
	case s.run.Comparable:
		last, err := s.makePlan(ctx, preview)
		if why, ok := errors.AsType[*notPlannedError](err); ok {
			s.warnings, err = append(s.warnings, s.mask.Apply(why.Error())), nil // what would be done is known all the same
		}
		return last, err
	case s.run.WantsPlan && s.run.PlanKey != "":
		return s.compiled(s.withGoals(ctx, preview...))
	}
	return s.compiled(s.withEvents(ctx, preview...))
}

// check looks for changes made behind Pulumi's back. The --expect-no-changes of an
// update or a real refresh reports them only after writing them to the state, where the
// next run would take them for known. A preview-only refresh neither writes nor locks.
func (s *session) check(ctx context.Context) (exit, error) {
	flags := append([]string{"refresh", "--preview-only", "--expect-no-changes"}, targetFlags(s.run.Options)...)
	if s.run.Options.RunProgram {
		flags = append(flags, "--run-program")
	}
	last, err := s.withEvents(ctx, flags...)
	if err == nil && last.code == exitHasChanges && s.events.onlyProvidersChanged() {
		last.code = 0
	}
	s.checking = err != nil || last.code != 0
	return last, err
}

// setSecrets sets the secrets that only the CLI can encrypt, with one process per key.
func (s *session) setSecrets(ctx context.Context) (exit, error) {
	for _, key := range slices.Sorted(maps.Keys(s.unencrypted)) {
		last, err := s.call(ctx, command{
			args: []string{"config", "set", "--secret", "--stack", s.stack, "--", key},
			// The CLI strips one trailing newline.
			stdin: s.unencrypted[key] + "\n",
		})
		if err != nil || last.code != 0 {
			return last, err
		}
	}
	return exit{}, nil
}

// refreshFlags are the flags of an operation that may refresh first.
func (s *session) refreshFlags() []string {
	var flags []string
	switch {
	case s.refreshed:
		flags = append(flags, "--refresh=false")
	case s.run.Options.Refresh:
		flags = append(flags, "--refresh")
	}
	if s.run.Options.RunProgram {
		flags = append(flags, "--run-program")
	}
	return flags
}

// targetFlags limit an operation to some of the resources.
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
