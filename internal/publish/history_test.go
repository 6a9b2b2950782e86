// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
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

// recordOf is that of a run with changes.
func recordOf(run string) history.Record {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	entry := meta.Snapshot{FirstReconciled: metav1.NewTime(at), LastReconciled: metav1.NewTime(at), TotalReconciliations: 1, Metadata: history.Of(run, true, nil)}
	return history.Record{Entry: entry, Change: &history.Change{EndedAt: at, Plan: planOf(100)}}
}

// historyFixture is a Stack with its record.
type historyFixture struct {
	*WithT
	t     *testing.T
	p     Publisher
	stack *v1.Stack
}

func newHistoryFixture(t *testing.T) historyFixture {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", UID: "uid-of-app"}}
	return historyFixture{NewWithT(t), t, planPublisher(t), stack}
}

func (f historyFixture) write(run string) *corev1.ConfigMap {
	f.t.Helper()
	f.Expect(f.p.History(f.t.Context(), f.stack, recordOf(run))).To(Succeed())
	return f.kept()
}

func (f historyFixture) kept() *corev1.ConfigMap {
	f.t.Helper()
	kept := &corev1.ConfigMap{}
	f.Expect(f.p.Client.Get(f.t.Context(), client.ObjectKey{Namespace: "default", Name: "app-history"}, kept)).To(Succeed())
	return kept
}

func (f historyFixture) runs(kept *corev1.ConfigMap) []string {
	f.t.Helper()
	entries, known, err := history.Entries(kept.BinaryData)
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(known).To(BeTrue())
	return history.Runs(entries)
}

func TestTheLastRunsAreRecordedOnce(t *testing.T) {
	f := newHistoryFixture(t)
	same := recordOf("a")
	f.Expect(f.p.History(t.Context(), f.stack, same)).To(Succeed())
	first := f.kept()
	f.Expect(metav1.IsControlledBy(first, f.stack)).To(BeTrue())
	f.Expect(f.p.History(t.Context(), f.stack, same)).To(Succeed())
	f.Expect(f.kept().ResourceVersion).To(Equal(first.ResourceVersion), "the same is not written again")
	f.Expect(f.runs(f.write("b"))).To(Equal([]string{"b", "a"}))
	limit := int32(2)
	f.stack.Spec.History = &v1.History{Limit: &limit}
	kept := f.write("c")
	f.Expect(f.runs(kept)).To(Equal([]string{"c", "b"}))
	f.Expect(kept.BinaryData).To(HaveLen(3), "nothing is left of a")
}

func TestARetainedRecordOutlivesItsStack(t *testing.T) {
	f := newHistoryFixture(t)
	f.write("a")
	f.stack.Spec.History = &v1.History{Retain: true}
	f.Expect(f.p.SettleHistory(t.Context(), f.stack)).To(Succeed())
	kept := f.kept()
	f.Expect(kept.OwnerReferences).To(BeEmpty())
	f.Expect(kept.Labels).To(HaveKeyWithValue("pulumi.com/history", "retained"))
	f.Expect(f.p.SettleHistory(t.Context(), f.stack)).To(Succeed())
	f.Expect(f.kept().ResourceVersion).To(Equal(kept.ResourceVersion))

	// Another Stack of that name continues it, and may decide otherwise.
	f.stack.UID = "uid-of-another"
	f.Expect(f.runs(f.write("b"))).To(Equal([]string{"b", "a"}))
	f.stack.Spec.History = nil
	f.Expect(f.p.SettleHistory(t.Context(), f.stack)).To(Succeed())
	f.Expect(metav1.IsControlledBy(f.kept(), f.stack)).To(BeTrue())
	f.Expect(f.kept().Labels).NotTo(HaveKey("pulumi.com/history"))
}

func TestNoRecordIsNothingToSettle(t *testing.T) {
	f := newHistoryFixture(t)
	f.Expect(f.p.SettleHistory(t.Context(), f.stack)).To(Succeed())
}

func TestAConfigMapOfSomeoneElseIsNoHistory(t *testing.T) {
	for name, theirs := range map[string]metav1.ObjectMeta{
		"without marks":              {},
		"retained, of another Stack": {Labels: map[string]string{"pulumi.com/history": "retained"}, Annotations: map[string]string{"pulumi.com/stack": "other"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newHistoryFixture(t)
			theirs.Namespace, theirs.Name = "default", "app-history"
			f.Expect(f.p.Client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: theirs})).To(Succeed())
			f.stack.Spec.History = &v1.History{Retain: true}
			for _, err := range []error{f.p.History(t.Context(), f.stack, recordOf("a")), f.p.settleHistory(t.Context(), f.stack)} {
				f.Expect(err).To(MatchError(ContainSubstring("does not belong to this Stack")))
			}
			f.Expect(f.p.SettleHistory(t.Context(), f.stack)).To(Succeed(), "the deletion of the Stack does not wait for it")
		})
	}
}
