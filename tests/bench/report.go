// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// report is the result of all measurements.
type report struct {
	options
	machine    machine
	loadBefore string
	// pairs are those that count, of each phase, and disturbed those that others
	// were at work in.
	pairs, disturbed [phases][]pair
	// taken is how many disturbed pairs had to be used anyway.
	taken [phases]int
	// counted is the round in which processes were counted. Its times are not
	// reported.
	counted round
	// controllerPeak is the largest resident set of the controller, after all
	// rounds that were timed.
	controllerPeak int64
	// scales are what the controller does with many Stacks.
	scales []scaleSample
	// waits is what it does while plans wait for an approval.
	waits waitingSample
	// languageSamples are those of programs in languages.
	languageSamples []languageSample
}

// add takes a round. No more are taken than were asked for, so that a phase that
// is not often disturbed has no more rounds than another.
func (r *report) add(round round) {
	for phase, pair := range round {
		switch {
		case pair.disturbed(r.machine.cpus):
			r.disturbed[phase] = append(r.disturbed[phase], pair)
		case len(r.pairs[phase]) < r.rounds:
			r.pairs[phase] = append(r.pairs[phase], pair)
		}
	}
}

// missing returns how many more rounds are needed, for the phase that needs most.
func (r *report) missing() int {
	missing := 0
	for _, pairs := range r.pairs {
		missing = max(missing, r.rounds-len(pairs))
	}
	return missing
}

// makeDo fills up with the least disturbed pairs where there are not enough others.
func (r *report) makeDo() {
	for phase := range r.pairs {
		slices.SortStableFunc(r.disturbed[phase], func(a, b pair) int {
			return cmp.Compare(a.others(r.machine.cpus), b.others(r.machine.cpus))
		})
		need := min(r.rounds-len(r.pairs[phase]), len(r.disturbed[phase]))
		r.pairs[phase] = append(r.pairs[phase], r.disturbed[phase][:need]...)
		r.taken[phase] = need
	}
}

// markdown returns the report as it is in docs/benchmarks.md.
func (r *report) markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "Measured on %s. The load average before the first round was %s.\n", r.machine, r.loadBefore)
	if r.rounds > 0 {
		r.writeComparison(&out)
	}
	if len(r.scales) > 0 {
		writeScales(&out, r.scales)
	}
	if r.waits.stacks > 0 {
		writeWaiting(&out, r.waits)
	}
	writeLanguages(&out, r.options, r.languageSamples, r.machine.cpus)
	return out.String()
}

// writeComparison writes a table for each phase.
func (r *report) writeComparison(out *strings.Builder) {
	titles := [phases]string{
		created: fmt.Sprintf("%d stacks from nothing to up, %d at a time", r.stacks, r.parallel),
		updated: fmt.Sprintf("An edit of the program of all %d stacks, %d at a time", r.stacks, r.parallel),
	}
	for phase, title := range titles {
		fmt.Fprintf(out, "\n### %s\n\n", title)
		writeTable(out, []string{"", "bare Pulumi", "Stacks", "ratio"}, r.phaseRows(phase))
		if n := len(r.disturbed[phase]); n > 0 {
			fmt.Fprintf(out, "\nRounds in which something else was at work on the machine: %d. Of them, in the table for want of better ones: %d.\n", n, r.taken[phase])
		}
	}
}

// phaseRows returns the rows of a phase.
func (r *report) phaseRows(phase int) [][]string {
	var rows [][]string
	wall := func(s sample) float64 { return s.wall.Seconds() }
	bare, stacks := r.values(phase, wall)
	for i, ratio := range ratios(stacks, bare) {
		rows = append(rows, []string{fmt.Sprintf("wall time, round %d", i+1), seconds(bare[i]), seconds(stacks[i]), fmt.Sprintf("%.2f", ratio)})
	}
	rows = append(rows, r.medianRow(phase, "**wall time, median**", wall))
	rows = append(rows, []string{"wall time, median of the rounds' ratios", "", "", fmt.Sprintf("%.2f", median(ratios(stacks, bare)))})
	for _, row := range []struct {
		name string
		of   func(cpuTimes) time.Duration
	}{
		{"CPU time of Pulumi, median", func(c cpuTimes) time.Duration { return c.pulumi }},
		{"CPU time of the controller itself, median", func(c cpuTimes) time.Duration { return c.controller }},
		{"CPU time of both, median", func(c cpuTimes) time.Duration { return c.pulumi + c.controller }},
		{"CPU time of kube-apiserver and etcd, median", func(c cpuTimes) time.Duration { return c.controlPlane }},
	} {
		rows = append(rows, r.medianRow(phase, row.name, func(s sample) float64 { return row.of(s.cpu).Seconds() }))
	}
	return append(append(rows, r.otherRows(phase)...), r.countedRows(phase)...)
}

// otherRows show how quiet the machine was in each round: what others took is
// what makes a round no good.
func (r *report) otherRows(phase int) [][]string {
	var rows [][]string
	bare, stacks := r.values(phase, func(s sample) float64 { return s.cpu.other.Seconds() })
	for i := range bare {
		rows = append(rows, []string{fmt.Sprintf("CPU time of anything else on the machine, round %d", i+1), seconds(bare[i]), seconds(stacks[i]), ""})
	}
	return rows
}

// countedRows returns the rows from the round with the recorder.
func (r *report) countedRows(phase int) [][]string {
	bare, stacks := r.counted[phase].bare, r.counted[phase].controller
	rows := [][]string{}
	for _, program := range []string{cliName, languageHost} {
		b, s := count(bare.processes, program), count(stacks.processes, program)
		rows = append(rows, []string{"processes of " + program, fmt.Sprint(b), fmt.Sprint(s), ratioOf(float64(s), float64(b))})
	}
	b, s := peak(bare.processes), peak(stacks.processes)
	return append(rows,
		[]string{"processes left behind by their parent", fmt.Sprint(bare.orphans), fmt.Sprint(stacks.orphans), ""},
		[]string{"slots for runs that had a CLI process in them", percent(busy(bare.processes, r.parallel)), percent(busy(stacks.processes, r.parallel)), ""},
		[]string{"peak memory of the largest CLI process", megabytes(b), megabytes(s), ratioOf(float64(s), float64(b))},
		[]string{"peak memory of the controller", "", megabytes(r.controllerPeak), ""},
		[]string{"writes to the API server for each Stack, making the Stack left out", "", fmt.Sprintf("%.1f", r.writesEach(phase)), ""},
	)
}

// writesEach excludes the benchmark's own writes.
func (r *report) writesEach(phase int) float64 {
	requests := r.counted[phase].controller.requests
	return (writes(requests) - requests["POST stacks"] - requests["PUT programs"]) / float64(r.stacks)
}

// values returns a value per round for both sides.
func (r *report) values(phase int, of func(sample) float64) (bare, stacks []float64) {
	for _, pair := range r.pairs[phase] {
		bare = append(bare, of(pair.bare))
		stacks = append(stacks, of(pair.controller))
	}
	return bare, stacks
}

func (r *report) medianRow(phase int, name string, of func(sample) float64) []string {
	bare, stacks := r.values(phase, of)
	return []string{name, seconds(median(bare)), seconds(median(stacks)), ratioOf(median(stacks), median(bare))}
}

// ratioOf is empty where it would mean nothing: beside less than a tenth of a
// second, or beside nothing.
func ratioOf(numerator, denominator float64) string {
	if denominator < 0.1 {
		return ""
	}
	return fmt.Sprintf("%.2f", numerator/denominator)
}

func seconds(value float64) string { return fmt.Sprintf("%.2f s", value) }

func percent(value float64) string { return fmt.Sprintf("%.0f %%", value*100) }

func megabytes(value int64) string { return fmt.Sprintf("%.0f MB", float64(value)/1e6) }

// writeTable writes a table with its numbers to the right.
func writeTable(out *strings.Builder, head []string, rows [][]string) {
	writeRow(out, head)
	out.WriteString("|---|" + strings.Repeat("---:|", len(head)-1) + "\n")
	for _, row := range rows {
		writeRow(out, row)
	}
}

func writeRow(out *strings.Builder, cells []string) {
	out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
