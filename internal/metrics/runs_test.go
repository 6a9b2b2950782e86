// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

type slots struct{ inFlight, waiting int }

func (s *slots) Count() (inFlight, waiting int) { return s.inFlight, s.waiting }

func TestRunsAreCountedByHowTheyEnded(t *testing.T) {
	g := NewWithT(t)
	registry := prometheus.NewPedanticRegistry()
	runs, err := NewRuns(registry, &slots{inFlight: 3, waiting: 7})
	g.Expect(err).NotTo(HaveOccurred())

	began := time.Now()
	after := func(d time.Duration, outcome run.Outcome, changes run.Changes) *run.Result {
		return &run.Result{Outcome: outcome, Changes: changes, StartedAt: began, EndedAt: began.Add(d)}
	}
	runs.Ended(run.Update, after(14*time.Second, run.Succeeded, run.Changes{Created: 2, Updated: 1, Same: 3}))
	runs.Ended(run.Update, after(50*time.Minute, run.Failed, run.Changes{Created: 1}))
	runs.Ended(run.Destroy, after(time.Minute, run.Succeeded, run.Changes{Deleted: 4, Retained: 2}))
	runs.Ended(run.Preview, after(time.Second, run.Succeeded, run.Changes{Created: 100}))
	runs.Ended(run.Recover, after(-time.Second, run.Succeeded, run.Changes{Updated: 100}))
	runs.Checked(v1.DriftDetectedReason)
	runs.PoliciesChecked(v1.PolicyViolationReason)
	violation := run.Violation{Set: "guard", Pack: "tags", Policy: "required-tags", Level: run.Mandatory, Resource: "urn:a", Message: "no owner"}
	runs.Violated(run.Violations{Listed: []run.Violation{violation, violation}})

	g.Expect(testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP pulumi_drift_checks_total Number of checks for drift, by what they found.
# TYPE pulumi_drift_checks_total counter
pulumi_drift_checks_total{result="DriftCheckFailed"} 0
pulumi_drift_checks_total{result="DriftDetected"} 1
pulumi_drift_checks_total{result="NoDrift"} 0
# HELP pulumi_policy_checks_total Number of checks of policies, by what they found.
# TYPE pulumi_policy_checks_total counter
pulumi_policy_checks_total{result="PoliciesPassed"} 0
pulumi_policy_checks_total{result="PolicyCheckFailed"} 0
pulumi_policy_checks_total{result="PolicyViolation"} 1
# HELP pulumi_policy_violations_total Number of violations that runs have found, by policy pack, policy and level.
# TYPE pulumi_policy_violations_total counter
pulumi_policy_violations_total{level="mandatory",pack="tags",policy="required-tags"} 2
# HELP pulumi_resource_changes_total Number of resources that Pulumi runs have changed, by operation.
# TYPE pulumi_resource_changes_total counter
pulumi_resource_changes_total{change="created"} 3
pulumi_resource_changes_total{change="deleted"} 4
pulumi_resource_changes_total{change="replaced"} 0
pulumi_resource_changes_total{change="retained"} 2
pulumi_resource_changes_total{change="updated"} 1
# HELP pulumi_runs_in_flight Number of Pulumi runs in flight.
# TYPE pulumi_runs_in_flight gauge
pulumi_runs_in_flight 3
# HELP pulumi_runs_waiting Number of Stacks that are waiting for other runs to end.
# TYPE pulumi_runs_waiting gauge
pulumi_runs_waiting 7
`), "pulumi_drift_checks_total", "pulumi_policy_checks_total", "pulumi_policy_violations_total", "pulumi_resource_changes_total", "pulumi_runs_in_flight", "pulumi_runs_waiting")).To(Succeed())
	g.Expect(testutil.CollectAndCount(runs.duration)).To(Equal(4+18), "one for each operation and outcome")

	families, err := registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				g.Expect(label.GetName()).To(BeElementOf("operation", "outcome", "change", "result", "pack", "policy", "level"), "no label names an object")
			}
		}
	}
}

func TestTheSeriesExistBeforeTheFirstRun(t *testing.T) {
	g := NewWithT(t)
	registry := prometheus.NewPedanticRegistry()
	runs, err := NewRuns(registry, &slots{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(testutil.GatherAndCount(registry)).To(Equal(31))
	for _, operation := range []run.Operation{run.Update, run.Preview, run.Destroy, run.Recover, run.Propose, run.ProposeDestroy, run.ReadOutputs, run.CheckDrift, run.CheckPolicies} {
		runs.Ended(operation, &run.Result{Outcome: run.Failed})
	}
	g.Expect(testutil.GatherAndCount(registry)).To(Equal(31), "the first failure is an increase of what was there")
	_, err = NewRuns(registry, &slots{})
	g.Expect(err).To(MatchError(ContainSubstring("failed to register the metrics of runs")), "and not twice")
}

func TestNilRunsCountNothing(t *testing.T) {
	var runs *Runs
	runs.Ended(run.Update, &run.Result{})
	runs.Checked(v1.NoDriftReason)
	runs.PoliciesChecked(v1.PoliciesPassedReason)
	runs.Violated(run.Violations{Listed: []run.Violation{{Pack: "p"}}})
}

// A pack may have any number of policies, and make up their names.
func TestTheSeriesOfPoliciesAreBounded(t *testing.T) {
	g := NewWithT(t)
	runs, err := NewRuns(prometheus.NewPedanticRegistry(), &slots{})
	g.Expect(err).NotTo(HaveOccurred())
	for i := range 2 * maxPolicies {
		violations := run.Violations{Listed: []run.Violation{{Pack: "p", Policy: strconv.Itoa(i), Level: run.Mandatory}}}
		runs.Violated(violations)
		runs.Violated(violations)
	}
	g.Expect(testutil.CollectAndCount(runs.violations)).To(Equal(maxPolicies + 1))
	g.Expect(testutil.ToFloat64(runs.violations.WithLabelValues("p", "0", "mandatory"))).To(BeEquivalentTo(2))
	g.Expect(testutil.ToFloat64(runs.violations.WithLabelValues(otherPolicies, otherPolicies, "mandatory"))).To(BeEquivalentTo(2 * maxPolicies))
}
