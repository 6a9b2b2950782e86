// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestStatusOfTwin(t *testing.T) {
	g := NewWithT(t)
	status := v1.StackStatus{
		ObservedGeneration:  1,
		LastAttemptedDigest: "sha256:1111",
		LastAppliedDigest:   "sha256:1111",
		LastAppliedRevision: "1@sha256:3333",
		History:             meta.History{{Digest: "sha256:1111", TotalReconciliations: 1}},
		LastUpdate:          &v1.LastUpdate{State: v1.UpdateSucceeded, LastResyncTime: &metav1.Time{Time: time.Unix(1700000000, 0)}},
	}
	twin, err := statusOfTwin(status, "sha256:2222")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(twin.LastAttemptedDigest).To(Equal("sha256:2222"))
	g.Expect(twin.LastAppliedDigest).To(Equal("sha256:2222"))
	g.Expect(twin.History[0].Digest).To(Equal("sha256:2222"))
	g.Expect(status.History[0].Digest).To(Equal("sha256:1111"), "the one that was run keeps its own")

	back, err := statusOfTwin(twin, "sha256:1111")
	g.Expect(err).NotTo(HaveOccurred())
	before, err := json.Marshal(status)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Marshal(back)).To(MatchJSON(before), "nothing else differs")
}
