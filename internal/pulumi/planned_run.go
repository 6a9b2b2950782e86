// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// errPlanChanged ends a run before it changes anything. The result has the other plan.
var errPlanChanged = &run.OutcomeError{Outcome: run.PlanChanged, Err: errors.New("what would be done is not what was approved")}

// destroys reports whether the run destroys the stack, or proposes that.
func (s *session) destroys() bool {
	return s.run.Operation == run.Destroy || s.run.Operation == run.ProposeDestroy
}

// proposes reports whether the run ends with the plan.
func (s *session) proposes() bool { return run.KindOf(s.run.Operation).Proposes }

// holdToPlan makes the plan of an operation that is the given preview, for a run that needs
// one, and reports whether the run may proceed: it is approved to do just that.
func (s *session) holdToPlan(ctx context.Context, preview ...string) (mayProceed bool, last exit, err error) {
	if !s.proposes() && s.run.Approved == "" {
		return true, exit{}, nil
	}
	last, err = s.makePlan(ctx, preview)
	if err != nil || last.code != 0 || s.proposes() {
		s.checking = err != nil || last.code != 0
		return false, last, err
	}
	if s.made.Digest() != s.run.Approved {
		s.checking = true
		return false, last, errPlanChanged
	}
	isBound, previewed := s.isBindable() && s.made.Unbound == "", s.events.previewed
	if last, err = s.refuseOtherState(ctx, preview); err != nil || last.code != 0 {
		s.checking = !errors.Is(err, errPending) // which the result names
		return false, last, err
	}
	s.made = nil // the caller has the plan
	if isBound {
		s.held, err = s.goals.heldText()
	} else {
		s.approved = previewed
	}
	s.checking = err != nil
	return err == nil, last, err
}

// refuseOtherState reads the state once more, right before the engine locks it: another user may have
// changed it while the plan was made, and Pulumi's own plans do not say from which values a resource is
// changed. For a destroy, and where Pulumi has no plan, the engine is also watched for a step that the
// plan does not have.
func (s *session) refuseOtherState(ctx context.Context, preview []string) (exit, error) {
	before := s.made.State
	now, last, err := s.export(ctx)
	if err != nil || last.code != 0 {
		return last, err
	}
	if s.mayRepeat() && len(now.creates) > 0 {
		s.pending, s.made = append(s.pending, now.creates...), nil
		return last, errPending
	}
	digest, err := stateDigest(s.dir.state())
	if err != nil || digest == before {
		return last, err
	}
	if last, err = s.makePlan(ctx, preview); err == nil && last.code == 0 {
		err = errPlanChanged
	}
	return last, err
}

// isBindable reports whether Pulumi has plans for the operation.
func (s *session) isBindable() bool { return !s.destroys() }

// makePlan makes the plan. The state comes first: one that changes while the plan is made
// then has another digest the next time. It is not locked meanwhile, as a preview needs no lock.
func (s *session) makePlan(ctx context.Context, preview []string) (exit, error) {
	before, last, err := s.export(ctx)
	if err != nil || last.code != 0 {
		return last, err
	}
	state, err := stateDigest(s.dir.state())
	if err != nil {
		return last, err
	}
	// Values may have secrets of the state in them. What is masked is part of the plan, so that
	// all that make it must know the same.
	if !s.learned {
		s.learnBefore(ctx, &before.contents)
	}
	if s.unread != nil {
		return last, fmt.Errorf("the plan is not shown, because it may contain secrets of the state, which could not be read: %w", s.unread)
	}
	version, last, err := s.version(ctx)
	if err != nil || last.code != 0 {
		return last, err
	}
	s.say("making the plan of what would be done")
	s.previewing, s.planning = !isPreview(s.run.Operation), true // whose progress is that of the preview
	defer func() { s.previewing, s.planning = false, false }()
	with := s.withEvents // a destroy has no plan of Pulumi
	if s.isBindable() {
		with = s.withGoals
	}
	if last, err = s.compiled(with(ctx, slices.Clone(preview)...)); err != nil || last.code != 0 {
		return last, err
	}
	if why := s.notPlanned(); why != "" {
		return last, &notPlannedError{why}
	}
	made := s.plan()
	made.Destroy, made.State = s.destroys(), state
	made.Inputs = s.events.plugins.configs.sum(s.autonames(), s.run.PlanInputs)
	if err := s.events.plugins.seeInstalled(s.driver.pluginsOf(s.dir)); err != nil {
		return last, err
	}
	made.Versions = s.events.plugins.versions()
	made.Versions["pulumi"] = version
	made.Unbound = s.unbound()
	s.addViolations(made)
	s.made = made
	return last, nil
}

// notPlannedError is why what was previewed is no plan that a run can be held to.
type notPlannedError struct{ why string }

func (e *notPlannedError) Error() string { return "no plan was made: " + e.why }

// notPlanned is why what was previewed is no plan that a run can be held to, "" if it is.
func (s *session) notPlanned() string {
	if why := s.events.whyUnknown(wouldChange); why != "" {
		return why
	}
	if s.events.planned.leftOut > 0 || s.events.previewed.isOver() {
		return tooManyResources(wouldChange)
	}
	return s.goals.differsEachTime()
}

// nothingToDestroy is the plan of the destroy of a stack that does not exist.
func (s *session) nothingToDestroy() *plan.Plan {
	return &plan.Plan{Destroy: true, Inputs: s.run.PlanInputs}
}

// version returns the version of Pulumi.
func (s *session) version(ctx context.Context) (string, exit, error) {
	last, err := s.call(ctx, command{args: []string{"version"}})
	return strings.TrimSpace(last.stdout.Text), last, err
}

// consent are the flags of an operation that is not asked about: with a plan, Pulumi previews it
// once more, under its lock, and changes nothing unless that is as planned. It reads the plan, which
// has secrets in plain text, from its standard input.
//
// With policy packs, it previews too: a policy on the stack as a whole is checked at the end, so
// that the update would have changed everything before it fails. So it does before it undoes drift.
func (s *session) consent() []string {
	switch {
	case s.held != "":
		return []string{"--yes", "--plan=/dev/stdin"}
	case s.previewsFirst():
		return []string{"--yes"}
	}
	return []string{"--yes", "--skip-preview"}
}
