// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
)

func TestTheChangesOfTheRunsInTheHistoryAreKept(t *testing.T) {
	g := NewWithT(t)
	p := planPublisher(t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", UID: "uid-of-app"}}
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	write := func(run string, size int) *corev1.ConfigMap {
		t.Helper()
		g.Expect(p.History(t.Context(), stack, run, history.Change{EndedAt: at, Plan: planOf(size)})).To(Succeed())
		kept := &corev1.ConfigMap{}
		g.Expect(p.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "app-history"}, kept)).To(Succeed())
		g.Expect(metav1.IsControlledBy(kept, stack)).To(BeTrue())
		return kept
	}
	keys := func(kept *corev1.ConfigMap) []string { return slices.Sorted(maps.Keys(kept.BinaryData)) }
	ended := func(run string) {
		stack.Status.History = append(meta.History{{Metadata: history.Of(run, true, nil)}}, stack.Status.History...)
		stack.Status.History = stack.Status.History[:min(2, len(stack.Status.History))]
	}

	g.Expect(keys(write("a", 100))).To(ConsistOf("a.json.gz"))
	// The controller has died before it has written the status.
	g.Expect(keys(write("a", 100))).To(ConsistOf("a.json.gz"), "it is there once")
	ended("a")
	g.Expect(keys(write("b", 100))).To(ConsistOf("a.json.gz", "b.json.gz"))
	ended("b")
	ended("c") // which has changed nothing
	kept := write("d", 100)
	g.Expect(keys(kept)).To(ConsistOf("b.json.gz", "d.json.gz"), "no entry is left of a")
	read, err := history.Decode(kept.BinaryData[history.Key("d")])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Plan.Steps).NotTo(BeEmpty())
	g.Expect(read.EndedAt).To(Equal(at))

	same := planOf(100)
	g.Expect(p.History(t.Context(), stack, "e", history.Change{EndedAt: at, Plan: same})).To(Succeed())
	written := &corev1.ConfigMap{}
	g.Expect(p.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), written)).To(Succeed())
	g.Expect(p.History(t.Context(), stack, "e", history.Change{EndedAt: at, Plan: same})).To(Succeed())
	again := &corev1.ConfigMap{}
	g.Expect(p.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), again)).To(Succeed())
	g.Expect(again.ResourceVersion).To(Equal(written.ResourceVersion), "the same is not written again")
}

func TestAConfigMapOfSomeoneElseIsNoHistory(t *testing.T) {
	g := NewWithT(t)
	p := planPublisher(t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", UID: "uid-of-app"}}
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app-history"}, Data: map[string]string{"a": "b"}}
	g.Expect(p.Client.Create(t.Context(), theirs)).To(Succeed())
	g.Expect(p.History(t.Context(), stack, "a", history.Change{Plan: planOf(100)})).To(MatchError(ContainSubstring("does not belong to this Stack")))
}
