// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The phases of a round.
const (
	created = iota // from no stack at all to all of them up
	updated        // from an edit of the program to all of them up again
	phases
)

func phaseNames() [phases]string { return [phases]string{created: "created", updated: "updated"} }

// sample is the measurement of one phase on one side.
type sample struct {
	wall time.Duration
	cpu  cpuTimes
	// orphans are processes that outlived their parent, and ended on their own before the
	// sample did.
	orphans int
	// processes, and requests to the API server, are set only where they are counted.
	processes []processRecord
	requests  map[string]float64
}

// round is one turn on both sides.
type round [phases]pair

// pair is the measurement of one phase of a round on both sides.
type pair struct{ bare, controller sample }

// disturbedShare is how much of the machine others may use in a phase that
// counts. An idle machine uses less than 1 % itself.
const disturbedShare = 0.05

// disturbed reports whether others used the machine.
func (p pair) disturbed(cpus int) bool { return p.others(cpus) > disturbedShare }

// others is the share of the machine that others used: on the side where it was
// larger, as that is what makes the two differ.
func (p pair) others(cpus int) float64 {
	var share float64
	for _, taken := range []sample{p.bare, p.controller} {
		if whole := taken.wall.Seconds() * float64(cpus); whole > 0 {
			share = max(share, taken.cpu.other.Seconds()/whole)
		}
	}
	return share
}

// processRecord is one process of Pulumi, as the recorder writes it.
type processRecord struct {
	// Program is the name of the program.
	Program string `json:"program"`
	// Command is the command and the subcommand of the CLI.
	Command string `json:"command,omitempty"`
	// Started and Ended of the CLI.
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// PeakBytes is the largest resident set of the CLI, or of a child of it.
	PeakBytes int64 `json:"peakBytes,omitempty"`
	// Settings are the variables that tune the CLI.
	Settings map[string]string `json:"settings,omitempty"`
}

// count returns the number of records of the program.
func count(records []processRecord, program string) int {
	n := 0
	for _, record := range records {
		if record.Program == program {
			n++
		}
	}
	return n
}

// peak returns the largest resident set of the records.
func peak(records []processRecord) int64 {
	var largest int64
	for _, record := range records {
		largest = max(largest, record.PeakBytes)
	}
	return largest
}

// busy is the share of the places for runs, from the start of the first process
// to the end of the last, that had a CLI process in them.
func busy(records []processRecord, places int) float64 {
	var first, last time.Time
	var sum time.Duration
	for _, record := range records {
		if record.Program != cliName {
			continue
		}
		if first.IsZero() || record.Started.Before(first) {
			first = record.Started
		}
		if record.Ended.After(last) {
			last = record.Ended
		}
		sum += record.Ended.Sub(record.Started)
	}
	span := last.Sub(first) * time.Duration(places)
	if span <= 0 {
		return 0
	}
	return float64(sum) / float64(span)
}

// sameEnvironment checks that the comparison is fair: the CLI must have the same settings
// on both sides.
func sameEnvironment(r round) error {
	bare, err := settings(r[created].bare, r[updated].bare)
	if err != nil {
		return fmt.Errorf("bare Pulumi: %w", err)
	}
	controller, err := settings(r[created].controller, r[updated].controller)
	if err != nil {
		return fmt.Errorf("the controller: %w", err)
	}
	if !maps.Equal(bare, controller) {
		return fmt.Errorf("the sides are not alike: bare Pulumi ran with %s, the controller's with %s", list(bare), list(controller))
	}
	return nil
}

// settings returns the settings of all CLI processes of a side, which must agree.
func settings(samples ...sample) (map[string]string, error) {
	var found map[string]string
	for _, taken := range samples {
		for _, record := range taken.processes {
			switch {
			case record.Program != cliName:
			case found == nil:
				found = record.Settings
			case !maps.Equal(found, record.Settings):
				return nil, fmt.Errorf("its processes have different settings: %s and %s", list(found), list(record.Settings))
			}
		}
	}
	if found == nil {
		return nil, errors.New("no process of Pulumi was recorded")
	}
	return found, nil
}

func list(settings map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		parts = append(parts, name+"="+settings[name])
	}
	return "[" + strings.Join(parts, " ") + "]"
}
