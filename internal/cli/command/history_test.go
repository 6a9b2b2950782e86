// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// entry is an entry of the history that ended so long ago.
func entry(ago time.Duration, status string, runs int64, metadata map[string]string) meta.Snapshot {
	return meta.Snapshot{
		FirstReconciled: metav1.NewTime(now.Add(-ago)), LastReconciled: metav1.NewTime(now.Add(-ago)), LastReconciledDuration: metav1.Duration{Duration: 3 * time.Second},
		LastReconciledStatus: status, TotalReconciliations: runs, Metadata: metadata,
	}
}

func TestHistoryShowsWhatRunsHaveChanged(t *testing.T) {
	w := newWorld(t, "history")
	w.apply("steered")
	g := NewWithT(t)
	update := func(more map[string]string) map[string]string {
		metadata := map[string]string{"operation": "update", "revision": "main@sha1:9a8f4c4a7c8b1f6f0f5d0f3e7b2f1f0a3c5d7e91"}
		for key, value := range more {
			metadata[key] = value
		}
		return metadata
	}
	w.status(func(s *v1.StackStatus) {
		s.History = meta.History{entry(time.Hour, "ReconciliationSucceeded", 1, update(map[string]string{"changes": "1 created"}))}
	})
	w.golden("history_of_an_earlier_version", "history stack network --diff", "history stack network -o markdown")

	w.status(func(s *v1.StackStatus) {
		s.History = meta.History{
			entry(time.Minute, "UpdateFailed", 1, update(map[string]string{"run": "f", "changedIn": "f", "changes": "1 deleted, 1 unchanged"})),
			entry(2*time.Minute, "ReconciliationSucceeded", 4, update(map[string]string{"run": "e", "changedIn": "d,c", "changes": "2 unchanged"})),
			entry(3*time.Minute, "RunInterrupted", 1, update(map[string]string{"run": "b"})),
			entry(4*time.Minute, "Recovered", 1, map[string]string{"operation": "recover", "run": "r"}),
			entry(time.Hour, "StackLocked", 1, update(nil)),
		}
	})
	w.golden("history_without_details", "history stack network --diff")

	text := func(text string) json.RawMessage { return json.RawMessage(`"` + text + `"`) }
	thing := func(name, op string, properties ...plan.Property) plan.Step {
		return plan.Step{Op: op, URN: "urn:pulumi:dev::network::lab:index:Thing::" + name, Type: "lab:index:Thing", Properties: properties}
	}
	failed := thing("b", plan.OpReplace, plan.Property{Path: "name", Kind: plan.KindUpdate, Replaces: true, Change: plan.Change{Old: text("b"), New: text("b2")}})
	failed.Failed = true
	approvers := map[string]string{"d": "jane\x1b[31m`"} // the last run of its entry was of nobody
	data := map[string][]byte{history.Key("c"): {}, history.Key("gone"): []byte("x")}
	for run, change := range map[string]plan.Plan{
		"f": {Steps: []plan.Step{thing("b", plan.OpDelete), failed}},
		"d": {Steps: []plan.Step{thing("a", plan.OpUpdate,
			plan.Property{Path: "token", Kind: plan.KindUpdate, Change: plan.Change{Old: text("[secret]"), New: text("[secret]"), Secret: true}},
			plan.Property{Path: "size", Kind: plan.KindUpdate, Change: plan.Change{Old: text("small"), New: text("large")}})},
			More: plan.Counts{Create: 20_000}, Outputs: []plan.Output{{Name: "url", Change: plan.Change{New: text("https://example.com")}}}},
	} {
		var err error
		data[history.Key(run)], err = history.Encode(history.Change{EndedAt: now.Add(-5 * time.Minute), Approved: "sha256:" + run, ApprovedBy: approvers[run], Plan: change})
		g.Expect(err).NotTo(HaveOccurred())
	}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "network-history"}, BinaryData: data}
	g.Expect(w.api.Create(t.Context(), kept)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), kept) })
	w.golden("history_of_another", "history stack network --diff")
	g.Expect(controllerutil.SetControllerReference(w.network(), kept, w.api.Scheme())).To(Succeed())
	g.Expect(w.api.Update(t.Context(), kept)).To(Succeed())
	w.golden("history_diff", "history stack network", "history stack network --diff", "history stack network --diff -o markdown", "history stack network --diff -o json")

	kept.BinaryData[history.Key("d")] = []byte("no gzip")
	g.Expect(w.api.Update(t.Context(), kept)).To(Succeed())
	w.golden("history_unreadable", "history stack network --diff")
	w.allow("history-reader", events, stacks)
	w.golden("history_forbidden", "history stack network --diff --as history-reader")
}

func TestAHistoryInMarkdownIsBounded(t *testing.T) {
	g := NewWithT(t)
	steps := make([]plan.Step, 500)
	for n := range steps {
		steps[n] = plan.Step{Op: plan.OpCreate, URN: "urn:pulumi:dev::network::lab:index:Thing::a thing", Type: "lab:index:Thing"}
	}
	var entries []historyEntry
	for range 5 {
		entries = append(entries, historyEntry{Snapshot: entry(time.Minute, "ReconciliationSucceeded", 1, map[string]string{"operation": "update"}),
			Changes: []records.Change{{Run: "a", Plan: &plan.Plan{Steps: steps}}, {Run: "b", Plan: &plan.Plan{Steps: steps}}}})
	}
	for most := 200; most < 60_000; most += 997 {
		g.Expect(len(historyMarkdown(entries, most))).To(BeNumerically("<=", most))
	}
	g.Expect(historyMarkdown(entries, 60_000)).To(ContainSubstring("... "))
}

func TestHistoryShowsTheRecordedRuns(t *testing.T) {
	w := newWorld(t, "recorded")
	w.apply("steered")
	g := NewWithT(t)
	var data map[string][]byte
	for n := range 7 {
		id := fmt.Sprintf("%da", n)
		one := history.Record{Entry: entry(time.Duration(10-n)*time.Hour, "ReconciliationSucceeded", 1, history.Of(id, n < 6, nil))}
		one.Entry.Metadata["operation"], one.Entry.Metadata["cause"] = "update", "change"
		if n < 6 {
			step := plan.Step{Op: plan.OpCreate, URN: "urn:pulumi:dev::network::lab:index:Thing::" + id, Type: "lab:index:Thing"}
			one.Change = &history.Change{EndedAt: one.Entry.LastReconciled.Time, ApprovedBy: "jane", Plan: plan.Plan{Steps: []plan.Step{step}}}
		} else {
			one.Entry.LastReconciledStatus, one.Entry.Metadata["message"] = "UpdateFailed", "the bucket\x1b[31m exists"
		}
		one.Log = &run.Log{LeftOut: 3, Lines: []run.LogLine{{At: now, Text: "creating " + id + "\x1b[31m"}}}
		var err error
		data, err = history.Put(data, nil, one, 20)
		g.Expect(err).NotTo(HaveOccurred())
	}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "network-history"}, BinaryData: data}
	history.Retain(kept, "network")
	g.Expect(w.api.Create(t.Context(), kept)).To(Succeed())
	t.Cleanup(func() { _ = w.api.Delete(context.Background(), kept) })
	w.golden("history_recorded", "history stack network", "history stack network --diff", "history stack network --log 6a", "history stack network --log 6", "history stack network --log 6 -o json",
		"history stack network --log x", "history stack network --log 6 --diff", "history stack nowhere")
	w.allow("recorded-reader", events, stacks)
	w.golden("history_recorded_forbidden", "history stack network --as recorded-reader", "history stack network --log 6 --as recorded-reader")

	g.Expect(w.api.Delete(t.Context(), w.network())).To(Succeed())
	g.Eventually(func() error {
		return w.api.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "network"}, &v1.Stack{})
	}).ShouldNot(Succeed())
	w.golden("history_retained", "history stack network", "history stack network -o json", "history stack network --log 0a")
	history.Release(kept)
	g.Expect(w.api.Update(t.Context(), kept)).To(Succeed())
	w.golden("history_not_retained", "history stack network")
}
