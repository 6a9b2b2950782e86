// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
	_ "time/tzdata" // the time zones of spec.drift, in an image that has none

	"github.com/robfig/cron/v3"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	// minInterval is the least time between two checks of spec.drift.interval. Each queries
	// the provider for every resource.
	minInterval = time.Minute
	// MaxSpread is the longest time by which a check is later than its schedule.
	MaxSpread = 5 * time.Minute
	// spreadPart is the part of the time between two checks that bounds the spread.
	spreadPart = 10
)

// Schedule says when a Stack is checked.
type Schedule struct {
	// cron, in the zone, or else the interval.
	cron     cron.Schedule
	zone     *time.Location
	interval time.Duration
	// seed is of the Stack, and decides its spread.
	seed string
}

// NewSchedule returns the schedule of spec.drift for the Stack with that UID. The error is a
// FieldError.
func NewSchedule(spec *v1.Drift, uid string) (*Schedule, error) {
	s := &Schedule{seed: uid}
	if spec.Schedule == "" {
		if spec.Interval != nil {
			s.interval = spec.Interval.Duration
		}
		s.interval = max(s.interval, minInterval)
		return s, nil
	}
	var err error
	if s.zone, err = location(spec.TimeZone); err != nil {
		return nil, &FieldError{"spec.drift.timeZone", err.Error()}
	}
	if s.cron, err = parse(spec.Schedule); err != nil {
		return nil, &FieldError{"spec.drift.schedule", err.Error()}
	}
	return s, nil
}

// location finds a time zone by its name. The zone of this machine is none: it may be another
// one on the next.
func location(name string) (*time.Location, error) {
	if name == time.Local.String() {
		return nil, fmt.Errorf("%s is not the name of a time zone, which is for example Europe/Berlin", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is not the name of a time zone, which is for example Europe/Berlin", name)
	}
	return zone, nil
}

// parse parses five fields, or the name of a schedule. The library has two forms more: a time
// zone before the fields, which is spec.drift.timeZone, and @every, which is spec.drift.interval.
// Its parser panics on a zone without fields.
func parse(text string) (cron.Schedule, error) {
	text = strings.TrimSpace(text)
	switch {
	case strings.Contains(text, "="):
		return nil, errors.New("the time zone belongs in spec.drift.timeZone")
	case strings.HasPrefix(text, "@every"):
		return nil, errors.New("@every is spec.drift.interval")
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a schedule: %w", text, err)
	}
	if parsed.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fmt.Errorf("%q never occurs", text)
	}
	return parsed, nil
}

// Next returns the time of the first check after that time: when it is due, and the spread of
// the Stack. It is zero if there is none, and may be in the past: then one was missed.
func (s *Schedule) Next(after time.Time) time.Time {
	due, gap := after.Add(s.interval), s.interval
	if s.cron != nil {
		if due = s.occurrence(after); due.IsZero() {
			return due
		}
		gap = s.occurrence(due).Sub(due)
	}
	return due.Add(s.spread(gap))
}

// First returns the time of the first check of a Stack that was there before its schedule. Many may
// have got theirs at once: those with an interval are checked over all of it, each at a time of its own.
func (s *Schedule) First(since time.Time) time.Time {
	if s.cron != nil {
		return s.Next(since)
	}
	least := s.most(s.interval) // as the first seconds after an edit are those of another run
	return since.Add(least + s.part(s.interval-least))
}

// spread is always the same for the same Stack, so that its checks are as far apart as those
// of the schedule.
func (s *Schedule) spread(gap time.Duration) time.Duration { return s.part(s.most(gap)) }

// most is the longest spread of checks with that time between them.
func (s *Schedule) most(gap time.Duration) time.Duration { return min(MaxSpread, gap/spreadPart) }

// part is a part of a time, from none to all of it in seconds, which is always the same for the Stack.
func (s *Schedule) part(of time.Duration) time.Duration {
	most := of / time.Second
	if most <= 0 {
		return 0
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(s.seed)) // never fails
	// The low bits of similar texts are similar.
	mixed := sum.Sum64()
	mixed ^= mixed >> 32
	return time.Duration(mixed%uint64(most+1)) * time.Second
}

// occurrence returns the next time of the cron schedule. The library leaves out the times that
// a switch to daylight saving skips, and with them the check of a whole day: here, such a time
// occurs at the switch.
func (s *Schedule) occurrence(after time.Time) time.Time {
	next := s.cron.Next(after.In(s.zone))
	for at := after.In(s.zone); ; {
		_, end := at.ZoneBounds()
		if end.IsZero() || !end.Before(next) {
			return next
		}
		_, before := at.Zone()
		_, since := end.Zone()
		if skipped := time.Duration(since-before) * time.Second; skipped > 0 && s.isSkipped(end, before, next, skipped) {
			return end
		}
		at = end
	}
}

// isSkipped reports whether the schedule has a time among those that the switch skips, and none
// as soon after it as without the switch: what occurs every hour does so all the same.
func (s *Schedule) isSkipped(at time.Time, offset int, next time.Time, skipped time.Duration) bool {
	without := at.In(time.FixedZone("", offset))
	return s.cron.Next(without.Add(-time.Second)).Sub(without) < skipped && next.Sub(at) >= skipped
}
