// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestARemovedFinalizerIsPutBack(t *testing.T) {
	ctx := context.Background()
	for name, bring := range map[string]func(w *world){
		"in sync": func(w *world) { w.endNow(run.Succeeded, nil) },
		"failed":  func(w *world) { w.endNow(run.Failed, nil) },
		"suspended": func(w *world) {
			w.endNow(run.Succeeded, nil)
			w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
		},
		"with a problem": func(w *world) {
			w.endNow(run.Succeeded, nil)
			program := &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}}
			if err := w.Delete(ctx, program); err != nil {
				w.t.Fatal(err)
			}
		},
		"in mid-run": func(*world) {},
		"lost": func(w *world) {
			w.Holder.Instance = "b"
			w.runner = newTestRunner()
			w.Runner = w.runner
			w.others.gone = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			w.mustReconcile()
			bring(w)
			w.mustReconcile()
			w.edit(func(s *v1.Stack) { s.Finalizers = nil })
			w.mustReconcile()
			g.Expect(w.stack().Finalizers).To(ConsistOf(v1.StackFinalizer))
			writes := w.writes
			w.mustReconcile()
			g.Expect(w.writes).To(Equal(writes), "one write, and only when it is missing")
		})
	}
}

func TestAStackWithNothingToUndoHasNoFinalizer(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()[1])
	w.mustReconcile()
	g.Expect(w.stack().Finalizers).To(BeEmpty(), "there is no Program yet")
}

func TestARemovedFinalizerTriggersAReconcile(t *testing.T) {
	g := NewWithT(t)
	held := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{v1.StackFinalizer}}}
	lost, deleted := &v1.Stack{}, &v1.Stack{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: started}}}
	passes := func(before, after *v1.Stack) bool {
		return finalizerLostPredicate().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	g.Expect(passes(held, lost)).To(BeTrue())
	g.Expect(passes(held, held)).To(BeFalse())
	g.Expect(passes(lost, lost)).To(BeFalse())
	g.Expect(passes(held, deleted)).To(BeFalse(), "it is released")
}
