// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics counts runs. No label names an object, so that the number of series
// does not grow with the Stacks, and deleting a Stack leaves nothing to clean up. Facts
// about a single Stack are in its status, which kube-state-metrics reads. When something
// is counted must not be decided here.
package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Slots are the slots for runs of a runner.
type Slots interface {
	// Count returns how many runs are in flight and how many Stacks wait for a slot.
	Count() (inFlight, waiting int)
}

// Runs are the metrics of runs.
type Runs struct {
	duration *prometheus.HistogramVec
	changes  *prometheus.CounterVec
	drift    *prometheus.CounterVec
	// policies counts checks, and violations what runs have found.
	policies, violations *prometheus.CounterVec
	violated             names
}

// NewRuns registers the metrics of runs. An error comes from the registerer.
func NewRuns(registerer prometheus.Registerer, slots Slots) (*Runs, error) {
	r := &Runs{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "pulumi_run_duration_seconds",
			Help: "The duration in seconds of Pulumi runs, by operation and outcome.",
			// A run takes from under a second to its timeout, by default an hour.
			Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600},
		}, []string{"operation", "outcome"}),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pulumi_resource_changes_total",
			Help: "Number of resources that Pulumi runs have changed, by operation.",
		}, []string{"change"}),
		drift: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pulumi_drift_checks_total",
			Help: "Number of checks for drift, by what they found.",
		}, []string{"result"}),
		policies: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pulumi_policy_checks_total",
			Help: "Number of checks of policies, by what they found.",
		}, []string{"result"}),
		violations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pulumi_policy_violations_total",
			Help: "Number of violations that runs have found, by policy pack, policy and level.",
		}, []string{"pack", "policy", "level"}),
	}
	// Initialize the series: a rate over a series that appears with its first value would
	// miss the first failure.
	r.count(run.Changes{})
	for _, reason := range []string{v1.DriftDetectedReason, v1.NoDriftReason, v1.DriftCheckFailedReason} {
		r.drift.WithLabelValues(reason)
	}
	for _, reason := range []string{v1.PoliciesPassedReason, v1.PolicyViolationReason, v1.PolicyCheckFailedReason} {
		r.policies.WithLabelValues(reason)
	}
	for _, kind := range run.Kinds() {
		for _, outcome := range []run.Outcome{run.Failed, run.TimedOut} {
			r.duration.WithLabelValues(string(kind.Operation), string(outcome))
		}
	}
	for _, collector := range []prometheus.Collector{
		r.duration, r.changes, r.drift, r.policies, r.violations,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "pulumi_runs_in_flight",
			Help: "Number of Pulumi runs in flight.",
		}, func() float64 { inFlight, _ := slots.Count(); return float64(inFlight) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "pulumi_runs_waiting",
			Help: "Number of Stacks that are waiting for other runs to end.",
		}, func() float64 { _, waiting := slots.Count(); return float64(waiting) }),
	} {
		if err := registerer.Register(collector); err != nil {
			return nil, fmt.Errorf("failed to register the metrics of runs: %w", err)
		}
	}
	return r, nil
}

// Ended counts a run. Call it once, when its result is written. A nil Runs counts
// nothing.
func (r *Runs) Ended(operation run.Operation, result *run.Result) {
	if r == nil {
		return
	}
	took := max(0, result.EndedAt.Sub(result.StartedAt).Seconds())
	r.duration.WithLabelValues(string(operation), string(result.Outcome)).Observe(took)
	if run.KindOf(operation).ChangesResources {
		r.count(result.Changes)
	}
}

// Checked counts a check for drift, by the reason of the condition that it has led to.
func (r *Runs) Checked(reason string) {
	if r != nil {
		r.drift.WithLabelValues(reason).Inc()
	}
}

func (r *Runs) count(c run.Changes) {
	for change, count := range map[string]int{
		"created": c.Created, "updated": c.Updated, "replaced": c.Replaced, "deleted": c.Deleted,
		"retained": c.Retained,
	} {
		r.changes.WithLabelValues(change).Add(float64(count))
	}
}
