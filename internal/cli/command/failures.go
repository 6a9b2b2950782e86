// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"slices"
)

// wasInterrupted reports whether the user interrupted the command. Failures caused by
// that are not worth reporting.
func wasInterrupted(ctx context.Context) bool {
	return errors.Is(ctx.Err(), context.Canceled)
}

// tellAll returns a single failure unchanged. It prints several and returns the summary.
// After an interrupt it prints only what failed before.
func (s *session) tellAll(ctx context.Context, failures []error, summary string) error {
	reported := failures
	if wasInterrupted(ctx) {
		reported = slices.DeleteFunc(slices.Clone(failures), func(failure error) bool { return errors.Is(failure, context.Canceled) })
	} else if len(failures) == 1 {
		return failures[0]
	}
	for _, failure := range reported {
		s.Failuref("%v", failure)
	}
	if len(failures) == 0 {
		return nil
	}
	return errors.New(summary)
}

// failedf prints a failure, unless the command was interrupted.
func (s *session) failedf(ctx context.Context, format string, args ...any) {
	if !wasInterrupted(ctx) {
		s.Failuref(format, args...)
	}
}
