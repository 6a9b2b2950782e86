// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// before is a time before now.
func before(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(-d)} }

// drifts keeps drift of the Stack network, as the controller does.
func (w *world) drifts() {
	w.t.Helper()
	urn := "urn:pulumi:dev::network::lab:index:Thing::"
	data, err := inventory.EncodePlan(plan.Plan{Steps: []plan.Step{
		{Op: plan.OpUpdate, URN: urn + "a", Type: "lab:index:Thing", Properties: []plan.Property{
			{Path: "tags.env", Kind: plan.KindUpdate, Change: plan.Change{Old: json.RawMessage(`"prod"`), New: json.RawMessage(`"test"`)}},
			{Path: "token", Kind: plan.KindUpdate, Change: plan.Change{Old: json.RawMessage(`"[secret]"`), New: json.RawMessage(`"[secret]"`), Secret: true, Digest: "sha256:1"}},
		}},
		{Op: plan.OpDelete, URN: urn + "b", Type: "lab:index:Thing"},
	}})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	w.keep("network-drift", inventory.PlanKey, data)
	w.status(func(s *v1.StackStatus) {
		s.Drift = &v1.DriftStatus{
			Result: v1.DriftDetectedReason, LastCheckedAt: before(time.Minute), Since: before(2 * time.Hour), Digest: "sha256:drift",
			Changed: 1, Deleted: 1, Ignored: 3, ConfigMap: "network-drift", ContentDigest: inventory.Digest(data),
		}
	})
}

func TestDrift(t *testing.T) {
	w := newWorld(t, "drift")
	w.apply("steered")
	w.golden("drift_unchecked", "drift stack network", "drift stack absent", "drift stack")
	w.status(func(s *v1.StackStatus) {
		s.Drift = &v1.DriftStatus{Result: v1.NoDriftReason, LastCheckedAt: before(time.Minute), Ignored: 2}
	})
	w.golden("drift_none", "drift stack network", "drift stack network -o json")
	w.status(func(s *v1.StackStatus) {
		s.Drift.Result = v1.DriftDetectedReason
		s.Drift.Unfinished = &v1.UnfinishedDrift{Targets: []string{"urn:pulumi:dev::network::lab:index:Group$lab:index:Thing::a"}, Others: 1}
	})
	w.golden("drift_unfinished", "drift stack network", "drift stack network -o json")
	w.drifts()
	w.golden("drift", "drift stack network", "drift stack network -o yaml", "drift stack network -o markdown", "drift stack network -o dot")
	w.status(func(s *v1.StackStatus) { s.Drift.Unfinished = &v1.UnfinishedDrift{Others: 1} })
	w.golden("drift_and_unfinished", "drift stack network")
	w.status(func(s *v1.StackStatus) {
		s.Drift.Unfinished = nil
		s.Drift.Result, s.Drift.Message = v1.DriftCheckFailedReason, "lab:index:Thing (c): the provider does not answer"
	})
	w.golden("drift_unknown", "drift stack network")
	w.status(func(s *v1.StackStatus) { s.Drift.ContentDigest = "sha256:another" })
	w.golden("drift_changed", "drift stack network")
	NewWithT(t).Expect(w.api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "network-drift"}})).To(Succeed())
	w.golden("drift_gone", "drift stack network")
	w.status(func(s *v1.StackStatus) { s.Drift.ContentDigest = "" })
	w.golden("drift_unwritten", "drift stack network")
}

func TestCheckDrift(t *testing.T) {
	for name, found := range map[string]v1.DriftStatus{
		"none":       {Result: v1.NoDriftReason, Ignored: 1},
		"some":       {Result: v1.DriftDetectedReason, Digest: "sha256:drift", Changed: 2},
		"unfinished": {Result: v1.DriftDetectedReason, Unfinished: &v1.UnfinishedDrift{Others: 1}},
		"failed":     {Result: v1.DriftCheckFailedReason, Digest: "sha256:drift", Changed: 2, Message: "lab:index:Thing (c): the provider does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "check-drift-"+name)
			w.apply("steered")
			w.answerTo(v1.CheckDriftAnnotation, func(request string, s *v1.StackStatus) {
				s.Drift = found.DeepCopy()
				s.Drift.LastHandledCheck = request
			})
			w.golden("check_drift_"+name, "reconcile stack network --check-drift")
		})
	}
}

func TestCheckDriftRefuses(t *testing.T) {
	w := newWorld(t, "check-drift-refuses")
	w.apply("steered")
	w.golden("check_drift_refuses", "reconcile stack absent --check-drift", "reconcile stack network --check-drift --force",
		"reconcile stack network --check-drift --with-source")
}
