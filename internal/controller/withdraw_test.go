// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

func TestAnEditEndsARunThatNoPodHasStarted(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	jobs := &testJobs{}
	w.runner.withdrawable = func(string) bool { return len(jobs.withdrawn) == 0 }
	w.Jobs = jobs
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.passTime(2 * time.Minute)
	w.mustReconcile()
	g.Expect(jobs.withdrawn).To(BeEmpty(), "it may wait for as long as it takes")

	w.edit(func(s *v1.Stack) { s.Spec.Stack, s.Generation = "other", s.Generation+1 })
	w.mustReconcile()
	g.Expect(jobs.withdrawn).To(ConsistOf(id))
	w.runner.end(id, run.Cancelled, "withdrawn")
	w.mustReconcile()
	g.Expect(w.stack().Status.Failures).To(BeZero(), "it has not failed")
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(ContainSubstring("generation 2 is next"))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveValue(And(HaveField("Generation", BeEquivalentTo(2)), Not(HaveField("ID", id)))))
}

func TestARunThatNoPodHasStartedIsWithdrawnAtOnceWhenItsPlanIsRejected(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	jobs := &testJobs{}
	w.runner.withdrawable = func(string) bool { return len(jobs.withdrawn) == 0 }
	w.mustReconcile()
	w.endWith(run.Succeeded, planOf(plan.OpCreate, "a"))
	w.Jobs = jobs
	digest := w.stack().Status.Plan.Digest
	w.annotate(v1.ApproveAnnotation, digest)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.mustReconcile()
	g.Expect(jobs.withdrawn).To(BeEmpty(), "it is approved")

	w.annotate(v1.RejectAnnotation, digest)
	w.mustReconcile()
	g.Expect(jobs.withdrawn).To(ConsistOf(id))
}

func TestAPreviewThatNoPodHasStartedIsWithdrawnOnceNobodyAsksForIt(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"a deletion":                 func(w *world) { NewWithT(w.t).Expect(w.Delete(w.t.Context(), w.stack())).To(Succeed()) },
		"a request taken back":       func(w *world) { w.edit(func(s *v1.Stack) { s.Annotations = nil }) },
		"a request for another":      func(w *world) { w.edit(asksForPreview("two")) },
		"a request that is too long": func(w *world) { w.edit(asksForPreview(strings.Repeat("1", 1000))) },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := inventoryWorld(t)
			w.mustReconcile()
			w.endRun(run.Succeeded, "", run.Changes{})
			jobs := &testJobs{}
			w.runner.withdrawable = func(string) bool { return len(jobs.withdrawn) == 0 }
			w.Jobs = jobs
			request := strings.Repeat("one", 1000)
			w.edit(asksForPreview(request))
			w.mustReconcile()
			id := w.stack().Status.Run.ID
			g.Expect(w.stack().Status.Run.PreviewRequest).To(Equal(stackstatus.RequestToken(request)))

			w.edit(func(s *v1.Stack) {
				s.Spec.RetryInterval, s.Generation = &metav1.Duration{Duration: time.Hour}, s.Generation+1
			})
			w.passTime(2 * time.Minute)
			w.mustReconcile()
			g.Expect(jobs.withdrawn).To(BeEmpty(), "an edit does not end it")

			end(w)
			w.mustReconcile()
			g.Expect(jobs.withdrawn).To(ConsistOf(id))
		})
	}
}

func TestARecoveryOrDestroyThatNoPodHasStartedIsWithdrawnAndFollowed(t *testing.T) {
	for name, tt := range map[string]struct {
		operation run.Operation
		begin     func(w *world)
	}{
		"a recovery": {run.Recover, func(w *world) { w.endNow(run.Failed, byForce) }},
		"a destroy": {run.Destroy, func(w *world) {
			w.endNow(run.Succeeded, nil)
			NewWithT(w.t).Expect(w.Delete(w.t.Context(), w.stack())).To(Succeed())
		}},
	} {
		for _, controller := range []string{"a", "b"} {
			t.Run(name+", ended by controller "+controller, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, programAndStack()...)
				jobs := &testJobs{}
				w.runner.withdrawable = func(id string) bool { return w.runner.runs[id].Operation == tt.operation }
				w.Jobs = jobs
				w.nextRun()
				tt.begin(w)
				first := w.nextRun()
				g.Expect(first.Operation).To(Equal(tt.operation))
				failures := w.stack().Status.Failures
				w.Holder.Instance = controller
				w.edit(func(s *v1.Stack) { s.Spec.ServiceAccountName, s.Generation = "other", s.Generation+1 })
				w.passTime(2 * time.Minute)
				w.mustReconcile()
				g.Expect(jobs.withdrawn).To(ConsistOf(first.ID))

				w.runner.end(first.ID, run.Cancelled, "withdrawn")
				w.mustReconcile()
				g.Expect(w.stack().Status.Failures).To(Equal(failures), "it has not failed")
				next := w.nextRun()
				g.Expect(next.ID).NotTo(Equal(first.ID))
				g.Expect(next.Operation).To(Equal(tt.operation), "it is still to be done")
			})
		}
	}
}
