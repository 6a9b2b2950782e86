// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// unknownWorld has a run in flight that is 5 s old, with the creations of unknown outcome
// that unknown points to.
func unknownWorld(t *testing.T) (w *world, id string, unknown *[]string) {
	w, _ = sourceWorld(t)
	w.mustReconcile()
	id, unknown = w.stack().Status.Run.ID, &[]string{}
	w.runner.unknownCreates = func(of string) []string {
		if of != id {
			t.Errorf("asked for those of run %s", of)
		}
		return *unknown
	}
	w.passTime(5 * time.Second)
	return w, id, unknown
}

func TestAnUnknownCreationIsNamedDuringTheRun(t *testing.T) {
	g := NewWithT(t)
	w, id, unknown := unknownWorld(t)
	before := w.writes
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(before), "there is nothing to write")

	*unknown = []string{"urn:b"}
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(5*time.Second), "its progress is reported in time")
	g.Expect(w.stack().Status.UnknownCreates).To(Equal([]string{"urn:b"}))
	g.Expect(w.stack().Status.Run).To(HaveField("ID", id), "it continues")
	for range 5 {
		w.mustReconcile()
	}
	g.Expect(w.writes).To(Equal(before+1), "once is enough")

	*unknown = []string{"urn:a", "urn:b"}
	w.passTime(5 * time.Second)
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(before+2), "the progress with it")
	g.Expect(w.stack().Status.UnknownCreates).To(Equal([]string{"urn:a", "urn:b"}))
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(ContainSubstring("after 10s"))

	w.endNow(run.Failed, func(r *run.Result) { r.UnknownCreates = *unknown })
	stack := w.stack()
	g.Expect(stack.Status.UnknownCreates).To(Equal([]string{"urn:a", "urn:b"}), "the result says the same")
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.StalledCondition)).To(Equal(v1.PendingOperationsReason))
	g.Expect(w.runner.started).To(Equal(1))
}

// The controller and its disk are lost before the run has ended: only what was named is
// known.
func TestAnUnknownCreationOutlivesItsRun(t *testing.T) {
	g := NewWithT(t)
	w, id, unknown := unknownWorld(t)
	*unknown = []string{"urn:a"}
	w.mustReconcile()

	clear(w.runner.runs)
	w.Holder, w.runner.unknownCreates = v1.RunHolder{Host: "pod-2", Instance: "b"}, func(string) []string { return nil }
	w.others.gone = true
	w.mustReconcile() // the run is lost
	recovery := w.nextRun()
	g.Expect(recovery.Operation).To(Equal(run.Recover))
	g.Expect(recovery.UnknownCreates).To(Equal([]string{"urn:a"}))
	g.Expect(recovery.Interrupted[0].ID).To(Equal(id))
	w.endNow(run.Succeeded, func(r *run.Result) { r.UnknownCreates = recovery.UnknownCreates })
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.StalledCondition)).To(Equal(v1.PendingOperationsReason))
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(ContainSubstring("urn:a"))
}

func TestAnUnknownCreationOfARelabelledStackIsNamed(t *testing.T) {
	g := NewWithT(t)
	w, all, _ := relabelled(t)
	w.runner.unknownCreates = func(string) []string { return []string{"urn:a"} }
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(3), "the finalizer, the start and this")
	w.Client = all
	g.Expect(w.stack().Status.UnknownCreates).To(Equal([]string{"urn:a"}))
}

func TestAnUnknownCreationOfARunThatIsLeftIsNamed(t *testing.T) {
	g := NewWithT(t)
	w, id, unknown := unknownWorld(t)
	*unknown = []string{"urn:a"}
	g.Expect(w.WriteAll(context.Background(), refTo(id))).To(Succeed())
	g.Expect(w.stack().Status.UnknownCreates).To(Equal([]string{"urn:a"}))
	g.Expect(w.stack().Status.Run).NotTo(BeNil())
}
