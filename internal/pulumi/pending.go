// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Creations of unknown outcome cannot be settled by a recovery. What follows is which
// of them it tells of, and when it may forget them.

// clears tells whether the creations of unknown outcome are to be forgotten, with
// those that the state tells of. Nobody else could name them, once they are cleared
// in it: they are kept, as the spec wants it of others, until the Stack names them.
func (s *session) clears(creates []string) bool {
	return s.run.ClearPendingCreates && !slices.ContainsFunc(append(s.unknown(), creates...), func(urn string) bool {
		return !slices.Contains(s.run.UnknownCreates, urn)
	})
}

// noteInFlight keeps word of the creations in flight, for a refresh that has failed. One
// that has begun had the lock, so that they are nobody's any more.
func (s *session) noteInFlight(creates []string) {
	if s.events.began {
		s.pending = append(s.pending, creates...)
		return
	}
	s.inFlight = creates
}

// openText names in the message of a recovery that failed what stays open for as long
// as none succeeds.
func (s *session) openText() string {
	if s.run.Operation != run.Recover {
		return ""
	}
	text := ""
	if unknown := s.unknown(); len(unknown) > 0 {
		text = "; it is not known whether these resources were created: " + someNamed(unknown)
	}
	if len(s.inFlight) > 0 {
		text += "; these creations are in flight in the state, of the interrupted run or of somebody else: " + someNamed(s.inFlight)
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

// unknownCreates are the creations of which nobody knows the outcome, sorted, and
// those that are forgotten. What a recovery was to forget that has failed stays to
// be told of by the next one: the state may not have it any more.
func (s *session) unknownCreates(outcome run.Outcome) (unknown, forgotten []string) {
	if outcome == run.Succeeded && s.clears(nil) {
		return nil, s.unknown()
	}
	return s.unknown(), nil
}

func (s *session) unknown() []string {
	unknown := slices.Concat(s.events.unknownCreates(s.stopped), s.pending, s.run.UnknownCreates)
	slices.Sort(unknown)
	return slices.Compact(unknown)
}
