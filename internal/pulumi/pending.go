// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A recovery cannot settle creations with unknown outcome. This file decides which of
// them it reports, and when it may forget them.

// clears reports whether to forget the creations with unknown outcome, including those in
// the state. It does so only once the Stack names all of them: after they are cleared
// from the state, nobody else could name them.
func (s *session) clears(creates []string) bool {
	return s.run.ClearPendingCreates && !slices.ContainsFunc(append(s.unknown(), s.masked(creates)...), func(urn string) bool {
		return !slices.Contains(s.run.UnknownCreates, urn)
	})
}

// noteInFlight keeps the creations in flight after a failed refresh. A refresh that
// began had the lock, so nobody is working on them any more.
func (s *session) noteInFlight(creates []string) {
	if s.events.began {
		s.pending = append(s.pending, creates...)
		return
	}
	s.inFlight = creates
}

// openText names, in the message of a failed recovery, what stays unresolved until one
// succeeds.
func (s *session) openText() string {
	if s.run.Operation != run.Recover {
		return ""
	}
	text := ""
	if unknown := s.unknown(); len(unknown) > 0 {
		text = "; it is not known whether these resources were created: " + someNamed(unknown)
	}
	if len(s.inFlight) > 0 {
		text += "; these creations are pending in the state, left by the interrupted run or by another update: " + someNamed(s.inFlight)
	}
	return text
}

func someNamed(urns []string) string {
	named := strings.Join(urns[:min(len(urns), maxNamed)], ", ")
	if more := len(urns) - maxNamed; more > 0 {
		named += fmt.Sprintf(", and %d more", more)
	}
	return named
}

// unknownCreates are the creations with unknown outcome, sorted, and those that are
// forgotten. If a recovery that was to forget some failed, the next one must still
// report them: they may be gone from the state.
func (s *session) unknownCreates(outcome run.Outcome) (unknown, forgotten []string) {
	if outcome == run.Succeeded && s.clears(nil) {
		return nil, s.unknown()
	}
	return s.unknown(), nil
}

// unknown are the creations with unknown outcome, masked: they are for people.
func (s *session) unknown() []string {
	unknown := slices.Concat(s.masked(s.events.unknownCreates(s.stopped)), s.masked(s.pending), s.run.UnknownCreates)
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// masked masks URNs: a program may name a resource after a secret.
func (s *session) masked(urns []string) []string {
	masked := make([]string, len(urns))
	for i, urn := range urns {
		masked[i] = s.mask.Apply(urn)
	}
	return masked
}
