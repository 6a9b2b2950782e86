// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

func annotated(pairs ...string) *v1.Stack {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}}
	for i := 0; i < len(pairs); i += 2 {
		stack.Annotations[pairs[i]] = pairs[i+1]
	}
	return stack
}

func TestOnlyANewRequestOfTheOperatorTriggersAReconcile(t *testing.T) {
	g := NewWithT(t)
	woken := func(before, after *v1.Stack) bool {
		return operatorRequestedPredicate().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	none, one, two := annotated(), annotated(v1.ReconcileRequestAnnotation, "1"), annotated(v1.ReconcileRequestAnnotation, "2")
	g.Expect(woken(none, one)).To(BeTrue())
	g.Expect(woken(one, two)).To(BeTrue())
	g.Expect(woken(one, one)).To(BeFalse())
	g.Expect(woken(one, none)).To(BeFalse())
	g.Expect(woken(none, annotated("other", "1"))).To(BeFalse())
}

func TestAForcedRunRefreshes(t *testing.T) {
	force := func(token string) func(*v1.Stack) {
		return func(s *v1.Stack) {
			s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: token, meta.ForceRequestAnnotation: token}
		}
	}
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) { s.ExpectNoRefreshChanges = true })
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Options).To(Equal(run.Options{ExpectNoRefreshChanges: true}),
		"the Pulumi.yaml of a program may refresh")
	w.endRun(run.Succeeded, "", run.Changes{})
	digest := w.stack().Status.LastAppliedDigest

	w.edit(force("one"))
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.LastHandledForceAt).To(Equal("one"))
	g.Expect(stack.Status.LastHandledReconcileAt).To(Equal("one"))
	g.Expect(stack.Status.Run.Digest).To(Equal(digest), "it is no other input")
	g.Expect(w.runner.runs[stack.Status.Run.ID].Options).To(Equal(run.Options{Refresh: true}), "a forced run is to correct drift, not fail on it")
	w.endRun(run.Failed, "no luck", run.Changes{})

	w.edit(force("two"))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).NotTo(BeNil(), "a forced run does not wait for the retry interval")
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(3), "each value counts once")

	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "three"} })
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Options.Refresh).To(BeFalse(), "a request alone forces nothing")
}

func TestTheOperatorsRequestStartsOneRun(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{v1.ReconcileRequestAnnotation: "once"} })
	w.mustReconcile()
	g.Expect(w.stack().Status.ObservedReconcileRequest).To(Equal("once"))
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2))
	g.Expect(w.stack().Status.LastHandledReconcileAt).To(BeEmpty(), "nobody has asked in Flux's words")
}

// The request is handled at once, as flux reconcile waits for that. The run that it asks
// for is not lost.
func TestARequestThatMeetsAProblemIsRunAfterIt(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	w.run(run.Succeeded, "", run.Changes{Created: 1})
	from.err = source.ErrNotReady
	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now"} })
	w.mustReconcile()
	g.Expect(w.stack().Status.LastHandledReconcileAt).To(Equal("now"))
	g.Expect(w.stack().Status.Run).To(BeNil())

	from.err = nil
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).NotTo(BeNil())
}
