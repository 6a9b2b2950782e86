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
// what the refresh finds. See refuseOtherState.
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

// mayRepeat reports whether an update that is held to a plan may create again what another update has
// left in flight since the inspection: the engine does not warn of that if it refreshes first.
func (s *session) mayRepeat() bool {
	options := s.run.Options
	return s.run.InspectFirst && !options.RunProgram && (options.Refresh || s.alwaysRefreshes)
}
