// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"fmt"

	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// checksDrift reports whether the run only finds out what was changed outside of Pulumi.
func (s *session) checksDrift() bool { return s.run.Operation == run.CheckDrift }

// checkDrift finds out what was changed outside of Pulumi. Like check, it neither writes nor
// locks. It works from the state: only a dynamic provider needs the program, and to see whether
// the state has one takes another process, so that only a check that has failed looks for it.
func (s *session) checkDrift(ctx context.Context) (exit, error) {
	s.checking = true // nothing is done
	var err error
	if s.ignore, err = drift.NewIgnore(s.run.IgnoreDrift); err != nil {
		return exit{}, err
	}
	if last, err := s.setSecrets(ctx); err != nil || last.code != 0 {
		return last, err
	}
	last, err := s.findDrift(ctx)
	if err != nil || last.code == 0 || last.stopped || !s.events.began {
		return last, err
	}
	before, failed := s.learnBefore(ctx, s.knownContents()), s.deferred
	s.deferred = deferredLines{} // the next one would report the same again
	brought, err := s.bringProgram(ctx, before.dynamic)
	switch {
	case err != nil || brought.code != 0:
		return brought, err
	case !s.run.ForProviders:
		s.deferred = failed
		return last, nil
	}
	return s.findDrift(ctx)
}

// findDrift refreshes without writing anything.
func (s *session) findDrift(ctx context.Context) (exit, error) {
	flags := []string{"refresh", "--preview-only"}
	if s.run.Options.RunProgram {
		flags = append(flags, "--run-program")
	}
	last, err := s.withEvents(ctx, flags...)
	if err != nil || last.code != 0 || len(s.events.drifted.found.steps) == 0 {
		return last, err
	}
	// Names and values may have secrets of the state in them. If those were not known each time,
	// the same drift would not always have the same digest.
	if !s.learned {
		s.learnBefore(ctx, s.knownContents())
	}
	switch {
	case s.unread != nil:
		return last, fmt.Errorf("the drift is not shown, because it may contain secrets of the state, which could not be read: %w", s.unread)
	case !s.learned:
		return last, context.Cause(ctx) // it was asked to stop
	}
	return last, nil
}

// driftSoFar says, in the message of a check that has failed, how far it got.
func (s *session) driftSoFar(outcome run.Outcome) string {
	found := s.events.drifted
	if found == nil || found.reading == 0 || outcome != run.Failed {
		return ""
	}
	text := fmt.Sprintf(" (of %s, %d could be read", plural.Of(found.reading, "resource", "resources"), found.read)
	if count := len(found.found.steps); count > 0 {
		text += fmt.Sprintf(", and drift was found in %d of those", count)
	}
	return text + ")"
}
