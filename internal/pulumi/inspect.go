// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
)

// errPending ends a run that found creations with unknown outcome that no run of ours has
// left. The result names them.
var errPending = errors.New("the state of the stack has pending creations that another update has left: " +
	"they may have succeeded, and an update would create them a second time")

// inspectFirst settles what is in flight in an existing stack before our first run.
// Whoever ran it before, such as another controller or a person, may have died during
// an update, and Pulumi merely warns about the creations that it then makes a second
// time. A process still at work on the stack holds the lock, so the refresh fails and
// its operations in flight are not taken for lost.
func (s *session) inspectFirst(ctx context.Context) (exit, error) {
	if !s.run.InspectFirst || s.inspected {
		return exit{}, nil
	}
	last, err := s.settle(ctx, true)
	if err != nil || last.code != 0 {
		return last, err
	}
	s.inspected = true
	if len(s.pending) > 0 {
		return last, errPending
	}
	return last, nil
}

// refreshApart refreshes in an operation of its own, and not at the beginning of the one
// that follows. An update of someone else may still die between the inspection and the
// operation. The engine warns of the creations that this leaves, which stops the operation
// (see leftCreates), but not if the operation refreshes first, without the program.
//
// A run that is held to a plan does not: the plan was made of the state as it was before, and has
// what the refresh finds. See refusePending.
func (s *session) refreshApart(ctx context.Context, refreshes bool) (exit, error) {
	options := s.run.Options
	if !refreshes || !s.run.InspectFirst || s.run.Approved != "" || options.RunProgram || len(options.Targets) > 0 ||
		s.state == nil || len(s.state.resources) == 0 {
		return exit{}, nil
	}
	last, err := s.refresh(ctx, s.state.contents, nil, false)
	if err != nil || last.code != 0 {
		return last, err
	}
	s.refreshed = true
	if err := remove(s.dir.settling()); err != nil {
		return last, workspaceError{err}
	}
	return last, nil
}

// refusePending reads the state once more, right before an update that is held to a plan and refreshes
// first: the engine does not warn of creations that another update has left since the inspection.
func (s *session) refusePending(ctx context.Context) (exit, error) {
	options := s.run.Options
	if !s.run.InspectFirst || options.RunProgram || !(options.Refresh || s.alwaysRefreshes) {
		return exit{}, nil
	}
	now, last, err := s.export(ctx)
	if err != nil || last.code != 0 {
		s.checking = true
		return last, err
	}
	if s.pending = append(s.pending, now.creates...); len(now.creates) > 0 {
		return last, errPending
	}
	return last, nil
}
