// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/runlog"
)

// endLogging ends the run in flight, which hands over its log, and absorbs it.
func (w *world) endLogging(outcome run.Outcome, log *run.Log) string {
	w.t.Helper()
	id := w.stack().Status.Run.ID
	w.runner.end(id, outcome, "")
	w.runner.results[id].Log = log
	w.mustReconcile()
	return id
}

func aLog(text string) *run.Log {
	return &run.Log{Lines: []run.LogLine{{At: time.Unix(1000, 0).UTC(), Text: text}}}
}

func TestTheLogOfTheLastRunIsKept(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	kept := func() *corev1.ConfigMap {
		found := &corev1.ConfigMap{}
		g.Expect(w.Get(context.Background(), types.NamespacedName{Namespace: "default", Name: "app-log"}, found)).To(Succeed())
		return found
	}
	w.mustReconcile()
	id := w.endLogging(run.Failed, aLog("create failed"))
	g.Expect(metav1.IsControlledBy(kept(), w.stack())).To(BeTrue())
	g.Expect(runlog.Decode(kept().BinaryData[runlog.Key])).To(Equal(aLog("create failed")))
	g.Expect(w.stack().Status.RunLog).To(Equal(&v1.RunLogStatus{
		Run: id, ConfigMap: "app-log", Digest: inventory.Digest(kept().BinaryData[runlog.Key])}))

	w.change(func(spec *v1.StackSpec) { spec.Targets = []string{"x"} })
	w.mustReconcile()
	id = w.endLogging(run.Succeeded, aLog("created"))
	g.Expect(runlog.Decode(kept().BinaryData[runlog.Key])).To(Equal(aLog("created")))
	g.Expect(w.stack().Status.RunLog).To(HaveField("Run", id))

	// The log of a run in the controller itself is in the controller's.
	w.change(func(spec *v1.StackSpec) { spec.Targets = []string{"y"} })
	w.mustReconcile()
	w.endLogging(run.Succeeded, nil)
	g.Expect(w.stack().Status.RunLog).To(BeNil(), "it would be the log of another run")
}

func TestALogThatCannotBeKeptFailsNoRun(t *testing.T) {
	g := NewWithT(t)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app-log"}, Data: map[string]string{"a": "b"}}
	w := inventoryWorld(t, theirs)
	w.mustReconcile()
	id := w.endLogging(run.Succeeded, aLog("created"))
	g.Expect(w.stack().Status.LastAppliedDigest).NotTo(BeEmpty())
	g.Expect(w.stack().Status.RunLog).To(Equal(&v1.RunLogStatus{
		Run: id, Message: "Cannot write the log of the run: ConfigMap default/app-log does not belong to this Stack: delete or rename it"}))
}
