// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestOccurrencesOfASchedule(t *testing.T) {
	for _, test := range []struct {
		name, schedule, zone, after string
		want                        []string
	}{
		{"UTC without a zone", "30 2 * * *", "", "2026-01-10T00:00:00Z", []string{"2026-01-10T02:30:00Z", "2026-01-11T02:30:00Z"}},
		{"a name", "@daily", "", "2026-01-10T00:00:00Z", []string{"2026-01-11T00:00:00Z"}},
		{"hourly", "@hourly", "Asia/Kolkata", "2026-01-10T00:00:00Z", []string{"2026-01-10T00:30:00Z", "2026-01-10T01:30:00Z"}},
		{"a zone in winter", "30 2 * * *", "Europe/Berlin", "2026-01-10T00:00:00Z", []string{"2026-01-10T01:30:00Z"}},
		{"a zone in summer", "30 2 * * *", "Europe/Berlin", "2026-07-10T00:00:00Z", []string{"2026-07-10T00:30:00Z"}},
		{"names of days", "0 6 * * MON-FRI", "America/New_York", "2026-01-09T12:00:00Z", []string{"2026-01-12T11:00:00Z"}},
		{"spaces", "  0   6  *  *  1 ", "", "2026-01-09T12:00:00Z", []string{"2026-01-12T06:00:00Z"}},
		{"a leap day", "0 0 29 2 *", "", "2026-01-01T00:00:00Z", []string{"2028-02-29T00:00:00Z"}},

		{"a time that the switch to daylight saving skips", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"a midnight that is skipped", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z",
			[]string{"2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"}},
		{"every hour, of which one is skipped", "15 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z",
			[]string{"2026-03-29T00:15:00Z", "2026-03-29T01:15:00Z", "2026-03-29T02:15:00Z"}},
		{"a time after the one that is skipped", "30 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:30:00Z"}},
		{"once a month, over both switches", "0 5 1 * *", "Europe/Berlin", "2026-03-01T12:00:00Z", []string{"2026-04-01T03:00:00Z"}},
		{"a time that occurs twice", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"}},
		{"every hour, of which one occurs twice", "15 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z",
			[]string{"2026-10-25T00:15:00Z", "2026-10-25T01:15:00Z", "2026-10-25T02:15:00Z"}},
		{"a time after the one that occurs twice", "30 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T02:30:00Z"}},
		{"half an hour is skipped", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-03T15:30:00Z"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			schedule, err := NewSchedule(&v1.Drift{Schedule: test.schedule, TimeZone: test.zone}, "a")
			g.Expect(err).NotTo(HaveOccurred())
			at := instant(t, test.after)
			for _, want := range test.want {
				at = schedule.occurrence(at)
				g.Expect(at.UTC().Format(time.RFC3339)).To(Equal(want))
			}
		})
	}
}

func TestScheduleIsRefused(t *testing.T) {
	for _, test := range []struct{ name, schedule, zone, want string }{
		{"four fields", "0 6 * *", "", "spec.drift.schedule: \"0 6 * *\" is not a schedule: expected exactly 5 fields"},
		{"seconds", "0 0 6 * * *", "", "is not a schedule: expected exactly 5 fields"},
		{"beyond a bound", "61 6 * * *", "", "above maximum"},
		{"no name", "@sometimes", "", "unrecognized descriptor"},
		{"an interval", "@every 1h", "", "spec.drift.interval"},
		{"a zone in the schedule", "TZ=Europe/Berlin 0 6 * * *", "", "spec.drift.timeZone"},
		{"a zone alone, on which the library panics", "CRON_TZ=UTC", "", "spec.drift.timeZone"},
		{"a day that no month has", "0 0 31 2 *", "", "never occurs"},
		{"no zone", "0 6 * * *", "Europe/Atlantis", "spec.drift.timeZone: \"Europe/Atlantis\" is not the name of a time zone"},
		{"the zone of the machine", "0 6 * * *", "Local", "spec.drift.timeZone"},
		{"a file", "0 6 * * *", "../../etc/passwd", "spec.drift.timeZone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewSchedule(&v1.Drift{Schedule: test.schedule, TimeZone: test.zone}, "a")
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

// TestSpreadOfManyStacks proves how 1,000 Stacks with one schedule are spread.
func TestSpreadOfManyStacks(t *testing.T) {
	const stacks, slots = 1000, 10
	after := instant(t, "2026-01-10T00:00:30Z")
	hours := func(n int) *metav1.Duration { return &metav1.Duration{Duration: time.Duration(n) * time.Hour} }
	for _, test := range []struct {
		name  string
		spec  v1.Drift
		first string
		most  time.Duration
	}{
		{"once a day", v1.Drift{Schedule: "0 3 * * *"}, "2026-01-10T03:00:00Z", 5 * time.Minute},
		{"once an hour", v1.Drift{Schedule: "@hourly"}, "2026-01-10T01:00:00Z", 5 * time.Minute},
		{"every 20 minutes", v1.Drift{Schedule: "*/20 * * * *"}, "2026-01-10T00:20:00Z", 2 * time.Minute},
		{"every minute", v1.Drift{Schedule: "* * * * *"}, "2026-01-10T00:01:00Z", 6 * time.Second},
		{"an interval", v1.Drift{Interval: hours(6)}, "2026-01-10T06:00:30Z", 5 * time.Minute},
		{"the shortest interval", v1.Drift{Interval: hours(0)}, "2026-01-10T00:01:30Z", 6 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			first := instant(t, test.first)
			starts := make([]int, slots)
			for n := range stacks {
				schedule, err := NewSchedule(&test.spec, fmt.Sprintf("5f0c9a52-0000-4000-8000-%012x", n))
				g.Expect(err).NotTo(HaveOccurred())
				next := schedule.Next(after)
				late := next.Sub(first)
				g.Expect(late).To(And(BeNumerically(">=", 0), BeNumerically("<=", test.most)))
				g.Expect(schedule.Next(after)).To(Equal(next), "the same each time")
				starts[min(slots-1, int(late*slots/(test.most+time.Second)))]++
			}
			if test.most >= time.Minute {
				// Without the spread, all are in the first.
				g.Expect(starts).To(HaveEach(And(BeNumerically(">", stacks/slots/2), BeNumerically("<", stacks/slots*2))))
			}
		})
	}
}

// TestTheFirstChecksOfManyStacks proves how those of 1,000 existing Stacks are spread that get an interval
// at once.
func TestTheFirstChecksOfManyStacks(t *testing.T) {
	const stacks, slots = 1000, 10
	since := instant(t, "2026-01-10T00:00:30Z")
	for interval, least := range map[time.Duration]time.Duration{time.Minute: 6 * time.Second, time.Hour: 5 * time.Minute, 24 * time.Hour: 5 * time.Minute} {
		t.Run(interval.String(), func(t *testing.T) {
			g := NewWithT(t)
			starts := make([]int, slots)
			for n := range stacks {
				schedule, err := NewSchedule(&v1.Drift{Interval: &metav1.Duration{Duration: interval}}, fmt.Sprintf("5f0c9a52-0000-4000-8000-%012x", n))
				g.Expect(err).NotTo(HaveOccurred())
				first := schedule.First(since)
				late := first.Sub(since)
				g.Expect(late).To(And(BeNumerically(">=", least), BeNumerically("<=", interval)))
				g.Expect(schedule.First(since)).To(Equal(first), "the same each time")
				starts[min(slots-1, int((late-least)*slots/(interval-least+time.Second)))]++
			}
			g.Expect(starts).To(HaveEach(And(BeNumerically(">", stacks/slots/2), BeNumerically("<", stacks/slots*2))))
		})
	}
	schedule, err := NewSchedule(&v1.Drift{Schedule: "0 6 * * *"}, "some Stack")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(schedule.First(since)).To(Equal(schedule.Next(since)), "that of cron says when")
}

func TestChecksKeepTheirDistance(t *testing.T) {
	g := NewWithT(t)
	schedule, err := NewSchedule(&v1.Drift{Schedule: "0 * * * *"}, "some Stack")
	g.Expect(err).NotTo(HaveOccurred())
	first := schedule.Next(instant(t, "2026-01-10T00:10:00Z"))
	second := schedule.Next(first.Add(20 * time.Second)) // the check took that long
	g.Expect(second.Sub(first)).To(Equal(time.Hour))

	g.Expect(schedule.Next(instant(t, "2026-01-01T00:00:00Z"))).To(BeTemporally("<", first), "one that was missed is due, once")
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return at
}
