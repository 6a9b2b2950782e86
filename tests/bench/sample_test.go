// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestBusy(t *testing.T) {
	at := func(from, to int) processRecord {
		start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		return processRecord{Program: cliName,
			Started: start.Add(time.Duration(from) * time.Second), Ended: start.Add(time.Duration(to) * time.Second)}
	}
	for name, tc := range map[string]struct {
		records []processRecord
		places  int
		want    float64
	}{
		"nothing was started":                          {nil, 4, 0},
		"one place, no gap":                            {[]processRecord{at(0, 1), at(1, 4)}, 1, 1},
		"one place, half of the time a gap":            {[]processRecord{at(0, 1), at(3, 4)}, 1, 0.5},
		"two places, one of them empty for a while":    {[]processRecord{at(0, 4), at(0, 2)}, 2, 0.75},
		"other programs hold no place of their own":    {[]processRecord{at(0, 4), {Program: languageHost}}, 1, 1},
		"the order of the records makes no difference": {[]processRecord{at(3, 4), at(0, 1)}, 1, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(busy(tc.records, tc.places)).To(Equal(tc.want))
		})
	}
}

func TestSameEnvironment(t *testing.T) {
	with := func(value string) sample {
		record := processRecord{Program: cliName, Settings: map[string]string{"PULUMI_X": value}}
		return sample{processes: []processRecord{record, {Program: languageHost}}}
	}
	both := func(bare, controller sample) pair { return pair{bare: bare, controller: controller} }
	fair := both(with("1"), with("1"))
	for name, tc := range map[string]struct {
		round round
		want  string
	}{
		"the same on both sides is fair":                  {round{fair, fair}, ""},
		"another value on one side is not":                {round{both(with("1"), with("2")), both(with("1"), with("2"))}, "the sides are not alike"},
		"another value in one phase is not":               {round{fair, both(with("1"), with("2"))}, "different settings"},
		"a side that nothing is known of is not compared": {round{both(with("1"), sample{}), both(with("1"), sample{})}, "no process of Pulumi"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := sameEnvironment(tc.round)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestDisturbed(t *testing.T) {
	with := func(other time.Duration) sample {
		return sample{wall: 5 * time.Second, cpu: cpuTimes{pulumi: 9 * time.Second, other: other}}
	}
	const little, much = 400 * time.Millisecond, 600 * time.Millisecond
	for name, tc := range map[string]struct {
		pair pair
		cpus int
		want bool
	}{
		"what an idle machine does itself disturbs nothing": {pair{bare: with(little), controller: with(little)}, 2, false},
		"one side is enough, be it bare Pulumi":             {pair{bare: with(much), controller: with(little)}, 2, true},
		"or the controller":                                 {pair{bare: with(little), controller: with(much)}, 2, true},
		"a larger machine notices less":                     {pair{bare: with(much), controller: with(much)}, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(tc.pair.disturbed(tc.cpus)).To(Equal(tc.want))
		})
	}
}
