// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func took(wall, pulumi, controller time.Duration) sample {
	return sample{wall: wall, cpu: cpuTimes{pulumi: pulumi, controller: controller}}
}

func sampleReport() *report {
	r := &report{
		options:        options{stacks: 2, parallel: 1, rounds: 3},
		machine:        machine{cpus: 2, model: "Some CPU", memory: 8 << 30, system: "Linux 6.1", golang: "go1.26", pulumi: "v3"},
		loadBefore:     "0.10",
		controllerPeak: 80e6,
	}
	for i := range 3 {
		n := time.Duration(i+1) * time.Second
		r.add(round{
			created: {bare: took(2*n, n, 0), controller: took(3*n, n, n)},
			updated: {bare: took(n, n, 0), controller: took(n, n, n)},
		})
	}
	r.counted[created].bare.processes = []processRecord{{Program: cliName, PeakBytes: 100e6}, {Program: languageHost}}
	r.counted[created].controller.processes = []processRecord{{Program: cliName, PeakBytes: 110e6}, {Program: cliName}, {Program: languageHost}}
	r.counted[created].controller.requests = map[string]float64{"POST stacks": 2, "PATCH stacks/status": 6, "GET secrets": 9}
	r.counted[updated].controller.requests = map[string]float64{"PUT programs": 1, "PATCH stacks/status": 4}
	return r
}

func TestReport(t *testing.T) {
	text := sampleReport().markdown()
	for name, want := range map[string]string{
		"the machine is named by what it is":     "Measured on 2 CPUs (Some CPU), 8.0 GiB of memory, Linux 6.1, go1.26, Pulumi v3.",
		"each round has its ratio":               "| wall time, round 3 | 6.00 s | 9.00 s | 1.50 |",
		"the ratio of the medians":               "| **wall time, median** | 4.00 s | 6.00 s | 1.50 |",
		"what the controller used has no ratio":  "| CPU time of the controller itself, median | 0.00 s | 2.00 s |  |",
		"both together":                          "| CPU time of both, median | 2.00 s | 4.00 s | 2.00 |",
		"processes are counted":                  "| processes of pulumi | 1 | 2 | 2.00 |",
		"the largest process":                    "| peak memory of the largest CLI process | 100 MB | 110 MB | 1.10 |",
		"writes without the benchmark's own":     "making the Stack left out |  | 3.0 |",
		"nor its edit of the Program":            "making the Stack left out |  | 2.0 |",
		"the second phase is a table of its own": "### An edit of the program of all 2 stacks, 1 at a time",
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(text).To(ContainSubstring(want)) })
	}
}

func TestReportTablesAreWhole(t *testing.T) {
	g := NewWithT(t)
	var width, tables int
	r := sampleReport()
	r.scales, r.languageSamples = sampleScales(), []languageSample{{}}
	for line := range strings.Lines(r.markdown()) {
		switch {
		case !strings.HasPrefix(line, "|"):
			width = 0
		case width == 0:
			width = strings.Count(line, "|")
			tables++
		default:
			g.Expect(strings.Count(line, "|")).To(Equal(width), line)
		}
	}
	g.Expect(tables).To(Equal(2 + 3 + 1))
}

func TestReportOfDisturbedRounds(t *testing.T) {
	quiet := pair{bare: took(2*time.Second, 0, 0), controller: took(2*time.Second, 0, 0)}
	busy := pair{bare: took(8*time.Second, 0, 0), controller: took(8*time.Second, 0, 0)}
	busy.bare.cpu.other = 4 * time.Second
	busier := busy
	busier.controller.cpu.other = 8 * time.Second
	g := NewWithT(t)
	r := &report{options: options{rounds: 2}, machine: machine{cpus: 2}}
	g.Expect(r.missing()).To(Equal(2))
	r.add(round{created: quiet, updated: busier})
	g.Expect(r.missing()).To(Equal(2), "the second phase was disturbed")
	r.add(round{created: quiet, updated: quiet})
	r.add(round{created: quiet, updated: busy})
	g.Expect(r.missing()).To(Equal(1))
	r.makeDo()
	g.Expect(r.pairs[created]).To(Equal([]pair{quiet, quiet}), "no more than were asked for")
	g.Expect(r.pairs[updated]).To(Equal([]pair{quiet, busy}), "the one that was disturbed least, for want of a better one")
	g.Expect(strings.Count(r.markdown(), "something else was at work on the machine: 2. Of them, in the table for want of better ones: 1.")).
		To(Equal(1), "the warning is there, for this phase only")
}

func TestReportOfWhatWasAskedFor(t *testing.T) {
	g := NewWithT(t)
	r := sampleReport()
	g.Expect(r.markdown()).NotTo(ContainSubstring("in sync"), "no scale")
	r.scales, r.rounds = sampleScales(), 0
	g.Expect(r.markdown()).NotTo(ContainSubstring("bare Pulumi"), "no comparison")
}
