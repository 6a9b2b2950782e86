// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// none stands for a missing figure.
const none = "–"

// publishedMemory is that of kustomize-controller by how many Kustomizations there
// were, as Flux publishes it for Flux v2.6.0 (RESULTS.md of fluxcd/flux-benchmark,
// commit 044015c7).
func publishedMemory(stacks int) string {
	switch stacks {
	case 100:
		return "32 MiB"
	case 500:
		return "122 MiB"
	case 1000:
		return "175 MiB"
	}
	return none
}

// writeScales writes the tables of what was measured with many Stacks, a column
// for each number of them.
func writeScales(out *strings.Builder, scales []scaleSample) {
	head := []string{""}
	for _, s := range scales {
		head = append(head, thousands(s.stacks)+" Stacks")
	}
	for _, table := range []struct {
		title string
		rows  []row
	}{
		{"Stacks in sync: a restart of the controller", restartRows()},
		{"Stacks in sync: nothing changes", idleRows(scales)},
		{"From the cause to the start of the run", latencyRows()},
	} {
		fmt.Fprintf(out, "\n### %s\n\n", table.title)
		writeTable(out, head, columns(table.rows, scales))
	}
}

// row is a figure, by its name.
type row struct {
	name string
	of   func(scaleSample) string
}

func columns(rows []row, scales []scaleSample) [][]string {
	var table [][]string
	for _, row := range rows {
		cells := []string{row.name}
		for _, scale := range scales {
			cells = append(cells, row.of(scale))
		}
		table = append(table, cells)
	}
	return table
}

func restartRows() []row {
	return []row{
		{"from the start of the process until it had looked at every Stack", func(s scaleSample) string { return seconds(s.restarted.window.Seconds()) }},
		{"CPU time of the controller until then", func(s scaleSample) string { return seconds(s.restarted.cpu.controller.Seconds()) }},
		{"processes of Pulumi", func(s scaleSample) string { return fmt.Sprint(s.restarted.processes) }},
		{"writes of the status of a Stack", func(s scaleSample) string {
			return fmt.Sprintf("%.0f", s.restarted.requests["PATCH stacks/status"]+s.restarted.requests["PUT stacks/status"])
		}},
		{"writes to the API server", func(s scaleSample) string { return fmt.Sprintf("%.0f", writes(s.restarted.requests)) }},
	}
}

func idleRows(scales []scaleSample) []row {
	rows := []row{
		{"interval of the Stacks", func(s scaleSample) string { return s.interval.String() }},
		{"watched for", func(s scaleSample) string { return s.idle.window.Round(time.Second).String() }},
		{"reconciles", func(s scaleSample) string { return fmt.Sprintf("%.0f", s.idle.reconciles) }},
		{"processes of Pulumi", func(s scaleSample) string { return fmt.Sprint(s.idle.processes) }},
		{"Stacks whose resourceVersion changed", func(s scaleSample) string { return fmt.Sprint(s.idle.rewritten) }},
		{"writes to the API server", func(s scaleSample) string { return fmt.Sprintf("%.0f", writes(s.idle.requests)) }},
		{"requests to the API server, but for lists of its caches", func(s scaleSample) string { return fmt.Sprintf("%.0f", unlisted(s.idle.requests)) }},
	}
	names := map[string]bool{}
	for _, s := range scales {
		for name := range s.idle.requests {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, row{fmt.Sprintf("requests `%s` for each reconcile", name), func(s scaleSample) string {
			return fmt.Sprintf("%.2f", perReconcile(s.idle, s.idle.requests[name]))
		}})
	}
	return append(rows,
		row{"**CPU time of the controller for 1,000 reconciles**", func(s scaleSample) string {
			return seconds(1000 * perReconcile(s.idle, s.idle.cpu.controller.Seconds()))
		}},
		row{"CPU time of kube-apiserver and etcd for 1,000 reconciles", func(s scaleSample) string {
			return seconds(1000 * perReconcile(s.idle, s.idle.cpu.controlPlane.Seconds()))
		}},
		row{"CPU time of anything else on the machine", func(s scaleSample) string { return seconds(s.idle.cpu.other.Seconds()) }},
		row{"memory of the controller (resident set) after that", func(s scaleSample) string { return mebibytes(s.resident) }},
		row{"largest since its start", func(s scaleSample) string { return mebibytes(s.peak) }},
		row{"kustomize-controller with as many Kustomizations, as published, on another machine", func(s scaleSample) string { return publishedMemory(s.stacks) }},
	)
}

func latencyRows() []row {
	return []row{
		{"new revision of a source, p50", func(s scaleSample) string { return milliseconds(percentile(s.sourceToRun, 50)) }},
		{"new revision of a source, p95", func(s scaleSample) string { return milliseconds(percentile(s.sourceToRun, 95)) }},
		{"Ready of a dependency, p50", func(s scaleSample) string { return milliseconds(percentile(s.readyToRun, 50)) }},
		{"Ready of a dependency, p95", func(s scaleSample) string { return milliseconds(percentile(s.readyToRun, 95)) }},
		{"times each was measured", func(s scaleSample) string { return fmt.Sprintf("%d, %d", len(s.sourceToRun), len(s.readyToRun)) }},
	}
}

// perReconcile returns 0 without reconciles.
func perReconcile(idle idleSample, value float64) float64 {
	if idle.reconciles == 0 {
		return 0
	}
	return value / idle.reconciles
}

func milliseconds(value float64) string { return fmt.Sprintf("%.1f ms", value*1000) }

// mebibytes formats memory in the unit of Kubernetes and Flux.
func mebibytes(value int64) string { return fmt.Sprintf("%.0f MiB", float64(value)/(1<<20)) }

func thousands(number int) string {
	if number < 1000 {
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%d,%03d", number/1000, number%1000)
}
