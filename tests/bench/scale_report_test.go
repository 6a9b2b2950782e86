// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func sampleScales() []scaleSample {
	return []scaleSample{{
		stacks: 300, interval: 6 * time.Second,
		restarted: idleSample{window: 2 * time.Second, reconciles: 300, requests: map[string]float64{"GET secrets": 300, "LIST stacks": 2}},
		idle: idleSample{window: time.Minute, reconciles: 500, cpu: cpuTimes{controller: time.Second, controlPlane: 2 * time.Second},
			requests: map[string]float64{"GET secrets": 500}},
		resident: 60 << 20, peak: 70 << 20,
		sourceToRun: []float64{0.010, 0.020}, readyToRun: []float64{0.003, 0.004, 0.005},
	}, {
		stacks: 1000, interval: 20 * time.Second,
		restarted: idleSample{requests: map[string]float64{"PATCH stacks/status": 3, "POST events": 1}, processes: 2},
		idle:      idleSample{reconciles: 1000, cpu: cpuTimes{controller: 3 * time.Second}, requests: map[string]float64{"LIST programs": 10}, rewritten: 4},
	}}
}

func TestScaleReport(t *testing.T) {
	var out strings.Builder
	writeScales(&out, sampleScales())
	text := out.String()
	for name, want := range map[string]string{
		"a column for each number of Stacks":                 "|  | 300 Stacks | 1,000 Stacks |",
		"a restart has no runs, or they are shown":           "| processes of Pulumi | 0 | 2 |",
		"writes of a status are counted apart":               "| writes of the status of a Stack | 0 | 3 |",
		"from all writes":                                    "| writes to the API server | 0 | 4 |",
		"what reads is no write":                             "| writes to the API server | 0 | 0 |",
		"any request, by which it would not be idle":         "| requests to the API server, but for lists of its caches | 500 | 0 |",
		"the cost of doing nothing":                          "| **CPU time of the controller for 1,000 reconciles** | 2.00 s | 3.00 s |",
		"and what it costs the control plane":                "| CPU time of kube-apiserver and etcd for 1,000 reconciles | 4.00 s | 0.00 s |",
		"a request that only one of them has":                "| requests `LIST programs` for each reconcile | 0.00 | 0.01 |",
		"Stacks that were written":                           "| Stacks whose resourceVersion changed | 0 | 4 |",
		"memory in the unit that Flux gives":                 "after that | 60 MiB | 0 MiB |",
		"what Flux publishes, and nothing where it has none": "as published, on another machine | – | 175 MiB |",
		"the median of the latency":                          "| new revision of a source, p50 | 10.0 ms | 0.0 ms |",
		"and what nearly all are below":                      "| Ready of a dependency, p95 | 5.0 ms | 0.0 ms |",
		"how many there were":                                "| times each was measured | 2, 3 | 0, 0 |",
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(text).To(ContainSubstring(want)) })
	}
}

func TestScaleReportWithoutReconciles(t *testing.T) {
	var out strings.Builder
	writeScales(&out, []scaleSample{{stacks: 1}})
	NewWithT(t).Expect(out.String()).NotTo(Or(ContainSubstring("NaN"), ContainSubstring("Inf")))
}

func TestIntervalFor(t *testing.T) {
	for name, tc := range map[string]struct {
		stacks int
		want   time.Duration
	}{
		"few are not looked at without end":      {3, 2 * time.Second},
		"a hundred are looked at fifty a second": {100, 2 * time.Second},
		"so are more":                            {300, 6 * time.Second},
		"and a thousand":                         {1000, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(intervalFor(tc.stacks)).To(Equal(tc.want)) })
	}
}
