// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestReconciles(t *testing.T) {
	g := NewWithT(t)
	g.Expect(reconciles([]byte(`# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="stack",result="success"} 5
controller_runtime_reconcile_total{controller="stack",result="requeue_after"} 7
controller_runtime_reconcile_total{controller="other",result="success"} 100
`))).To(BeEquivalentTo(12), "whatever the result")
	_, err := reconciles([]byte("# TYPE x counter\nx 1\n"))
	g.Expect(err).To(MatchError(ContainSubstring("does not count")), "none at all would make the cost of one a guess")
	_, err = reconciles([]byte("not metrics {"))
	g.Expect(err).To(HaveOccurred())
}

func TestLookedAt(t *testing.T) {
	g := NewWithT(t)
	text := []byte(`# TYPE gotk_reconcile_duration_seconds histogram
gotk_reconcile_duration_seconds_bucket{kind="Stack",name="a",namespace="idle",le="+Inf"} 2
gotk_reconcile_duration_seconds_sum{kind="Stack",name="a",namespace="idle"} 1
gotk_reconcile_duration_seconds_count{kind="Stack",name="a",namespace="idle"} 2
gotk_reconcile_duration_seconds_bucket{kind="Stack",name="b",namespace="idle",le="+Inf"} 1
gotk_reconcile_duration_seconds_sum{kind="Stack",name="b",namespace="idle"} 1
gotk_reconcile_duration_seconds_count{kind="Stack",name="b",namespace="idle"} 1
gotk_reconcile_duration_seconds_bucket{kind="Stack",name="c",namespace="other",le="+Inf"} 1
gotk_reconcile_duration_seconds_sum{kind="Stack",name="c",namespace="other"} 1
gotk_reconcile_duration_seconds_count{kind="Stack",name="c",namespace="other"} 1
gotk_reconcile_duration_seconds_bucket{kind="Program",name="a",namespace="idle",le="+Inf"} 1
gotk_reconcile_duration_seconds_sum{kind="Program",name="a",namespace="idle"} 1
gotk_reconcile_duration_seconds_count{kind="Program",name="a",namespace="idle"} 1
`)
	g.Expect(lookedAt(text, "idle")).To(Equal(2), "each Stack once, however often it was looked at")
	g.Expect(lookedAt([]byte("# TYPE x counter\nx 1\n"), "idle")).To(BeZero(), "before the first reconcile there is no such metric")
}

func TestRequests(t *testing.T) {
	g := NewWithT(t)
	counts, err := requests([]byte(`# TYPE apiserver_request_total counter
apiserver_request_total{code="200",resource="stacks",subresource="status",verb="PATCH"} 3
apiserver_request_total{code="409",resource="stacks",subresource="status",verb="PATCH"} 1
apiserver_request_total{code="200",resource="secrets",subresource="",verb="GET"} 8
apiserver_request_total{code="200",resource="stacks",subresource="",verb="WATCH"} 2
apiserver_request_total{code="200",resource="leases",subresource="",verb="PUT"} 50
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(counts).To(Equal(map[string]float64{"PATCH stacks/status": 4, "GET secrets": 8}))
	g.Expect(writes(counts)).To(BeEquivalentTo(4))
	_, err = requests([]byte("# TYPE x counter\nx 1\n"))
	g.Expect(err).To(MatchError(ContainSubstring("does not count")))
}

func TestGrown(t *testing.T) {
	g := NewWithT(t)
	g.Expect(grown(map[string]float64{"a": 1, "b": 2}, map[string]float64{"a": 1, "b": 5, "c": 4})).
		To(Equal(map[string]float64{"b": 3, "c": 4}))
	g.Expect(differing(map[string]string{"a": "1", "b": "2"}, map[string]string{"a": "1", "b": "3", "c": "1"})).To(Equal(2))
}
