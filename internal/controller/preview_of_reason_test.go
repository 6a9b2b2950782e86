// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// editPreviewed edits the Stack that the preview names.
func (w *world) editPreviewed(change func(*v1.Stack)) {
	w.t.Helper()
	g, stack := NewWithT(w.t), &v1.Stack{}
	g.Expect(w.Get(w.t.Context(), realKey, stack)).To(Succeed())
	change(stack)
	g.Expect(w.Update(w.t.Context(), stack)).To(Succeed())
}

// previewsOnce has the preview that is due run, and nothing follow it.
func (w *world) previewsOnce() *v1.PlanStatus {
	w.t.Helper()
	g, before, made := NewWithT(w.t), w.runner.started, planOf(plan.OpUpdate, "a")
	made.State = "sha256:state"
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(before+1), "a preview is due")
	w.endWith(run.Succeeded, made)
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(before+1), "and no other follows")
	return w.stack().Status.Plan
}

// What the comment says of the approval is true until the next commit, whatever happens in between.
func TestTheReasonWhyAPlanCannotBeApprovedGoes(t *testing.T) {
	allow := func(w *world) {
		w.editPreviewed(func(s *v1.Stack) {
			s.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways, PreviewNamespaces: []string{key.Namespace}}
		})
	}
	for name, test := range map[string]struct {
		edit   func(previewed, preview *v1.Stack)
		before string
		mend   func(w *world)
		after  string
		waits  time.Duration
	}{
		"the Stack allows it": {
			edit: func(previewed, _ *v1.Stack) { previewed.Spec.Approval = nil }, before: "there is no Stack apps/network, or its spec", mend: allow,
		},
		"a Secret is there": {
			edit: func(previewed, _ *v1.Stack) { previewed.Spec.EnvRefs["TOKEN"].Secret.Name = "later" }, before: "the inputs of Stack apps/network cannot be resolved",
			mend: func(w *world) {
				NewWithT(w.t).Expect(w.Create(w.t.Context(), &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "later", UID: "3"}, Data: map[string][]byte{"token": []byte("x")},
				})).To(Succeed())
			},
		},
		"the preview names the Stack": {
			edit: func(_, preview *v1.Stack) { preview.Spec.PreviewOf = nil }, before: "spec.previewOf names no Stack",
			mend: func(w *world) {
				w.edit(func(s *v1.Stack) {
					s.Spec.PreviewOf = &v1.PreviewedStackReference{Namespace: realKey.Namespace, Name: realKey.Name}
				})
			},
		},
		"the preview names no Stack any more": {
			mend:  func(w *world) { w.edit(func(s *v1.Stack) { s.Spec.PreviewOf = nil }) },
			after: "spec.previewOf names no Stack",
		},
		"the Stack does not allow it any more": {
			mend:  func(w *world) { w.editPreviewed(func(s *v1.Stack) { s.Spec.Approval = nil }) },
			after: "there is no Stack apps/network, or its spec", waits: v1.DefaultInterval,
		},
		"another reason": {
			edit: func(previewed, _ *v1.Stack) {
				previewed.Spec.Approval, previewed.Spec.EnvRefs["TOKEN"].Secret.Name = nil, "gone"
			},
			before: "there is no Stack apps/network, or its spec", mend: allow, after: "the inputs of Stack apps/network cannot be resolved", waits: v1.DefaultInterval,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := pullRequestWorld(t, test.edit)
			g.Expect(w.previewsOnce().Message).To(HavePrefix(test.before))
			test.mend(w)
			if test.waits > 0 {
				w.mustReconcile()
				g.Expect(w.runner.started).To(Equal(1), "reasons may alternate")
				w.passTime(test.waits + time.Minute) // since the end of the preview
			}
			g.Expect(w.previewsOnce().Message).To(HavePrefix(test.after))
			g.Expect(w.stack().Status.Plan.Message == "").To(Equal(test.after == ""))
			g.Expect(w.events.lines).To(HaveExactElements(HavePrefix("Normal "), HavePrefix("Normal ")), "the comment is edited")
		})
	}
}

// No event says that the reason is gone if it is one of another shard, or of a Stack that is suspended.
func TestAPlanThatCannotBeApprovedIsLookedAtAgain(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, func(previewed, preview *v1.Stack) {
		previewed.Spec.Approval, preview.Spec.RetryInterval = nil, &metav1.Duration{Duration: time.Minute}
	})
	w.previewsOnce()
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Minute))
	g.Expect(w.runner.started).To(Equal(1))
}

// An error that passes by itself is no reason to show.
func TestAnErrorOfTheAPIServerIsNoReasonWhyAPlanCannotBeApproved(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, nil)
	sources := &packSources{digests: map[string]string{"guard": "sha256:1"}, err: errors.New("connection refused")}
	w.PackSources = sources
	w.createSet(policySet("guard", v1.PolicyEnforce, func(set *v1.PolicySet) {
		set.Spec.StackSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"guarded": "true"}}
	}))
	w.editPreviewed(func(s *v1.Stack) { s.Labels = map[string]string{"guarded": "true"} })
	_, err := w.reconcile()
	g.Expect(err).To(MatchError(ContainSubstring("failed to find the policy packs of Stack apps/network: policy pack tags of PolicySet guard: connection refused")))
	g.Expect(w.runner.started).To(BeZero())
	g.Expect(w.runner.slots).To(BeZero(), "and others may run meanwhile")
	sources.err = nil
	g.Expect(w.previewsOnce().Message).To(BeEmpty())
}

// What a missing Secret does to the Stack is what tells its previews that it is there.
func TestAPreviewIsWokenByTheReadinessOfItsStack(t *testing.T) {
	stack := func(reason string) *v1.Stack {
		s := &v1.Stack{}
		conditions.MarkFalse(s, meta.ReadyCondition, reason, "%s", reason)
		return s
	}
	passes := func(before, after *v1.Stack) bool {
		return stackMovedPredicate().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	g := NewWithT(t)
	g.Expect(passes(stack(v1.InputsFailedReason), stack(meta.ProgressingReason))).To(BeTrue())
	g.Expect(passes(stack(v1.InputsFailedReason), stack(v1.InputsFailedReason))).To(BeFalse())
}
