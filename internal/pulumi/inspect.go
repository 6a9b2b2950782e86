// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"errors"
)

// errPending ends a run that found creations with unknown outcome in a stack that none
// of our runs had found before. The result names them.
var errPending = errors.New("the state of the stack has creations in flight that an update of somebody else has left: " +
	"they may have been made, and would be made a second time")

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
