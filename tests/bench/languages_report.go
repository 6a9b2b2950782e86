// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// languageActNames are those of the rows.
func languageActNames(o options) [languageActs]string {
	return [languageActs]string{
		firstRun:    "first run",
		otherConfig: "second run, with another config",
		newCommit:   "new commit, with the same dependencies",
		manyStacks:  fmt.Sprintf("%d new stacks at once, %d at a time", o.languageStacks, o.parallel),
	}
}

// writeLanguages writes a table for each language.
func writeLanguages(out *strings.Builder, o options, samples []languageSample, cpus int) {
	for _, taken := range samples {
		fmt.Fprintf(out, "\n### Programs in %s\n\n", taken.language.title)
		writeTable(out, []string{"", "bare Pulumi", "Stacks", "ratio", "CPU time of bare Pulumi", "of Stacks", "ratio"}, languageRows(o, taken))
		fmt.Fprintf(out, "\nAnything else on the machine used %s of it while this was measured, at most.\n", percent(taken.others(cpus)))
	}
}

func languageRows(o options, taken languageSample) [][]string {
	installed := taken.installed
	rows := [][]string{{
		"before that: " + taken.language.installing, seconds(installed.wall.Seconds()), "", "", seconds(installed.cpu.pulumi.Seconds()), "", "",
	}}
	for which, name := range languageActNames(o) {
		pairs := taken.acts[which]
		if len(pairs) > 1 {
			name += fmt.Sprintf(", median of %d", len(pairs))
		}
		bareWall, stacksWall := medianOf(pairs, func(s sample) float64 { return s.wall.Seconds() })
		bareCPU, stacksCPU := medianOf(pairs, func(s sample) float64 { return (s.cpu.pulumi + s.cpu.controller).Seconds() })
		rows = append(rows, []string{
			name, seconds(bareWall), seconds(stacksWall), ratioOf(stacksWall, bareWall),
			seconds(bareCPU), seconds(stacksCPU), ratioOf(stacksCPU, bareCPU),
		})
	}
	return rows
}

// medianOf returns the median of a value on both sides.
func medianOf(pairs []pair, of func(sample) float64) (bare, stacks float64) {
	var bares, all []float64
	for _, both := range pairs {
		bares, all = append(bares, of(both.bare)), append(all, of(both.controller))
	}
	return median(bares), median(all)
}

// others is the largest share of the machine that others used in an act.
func (s languageSample) others(cpus int) float64 {
	var share float64
	for _, pairs := range s.acts {
		for _, both := range pairs {
			share = max(share, both.others(cpus))
		}
	}
	return share
}
