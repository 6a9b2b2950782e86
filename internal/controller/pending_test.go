// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// force requests a forced run, as flux reconcile --force does.
func force(token string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: token, meta.ForceRequestAnnotation: token}
	}
}

// expectForcedRun expects a run in flight that refreshes.
func (w *world) expectForcedRun(g *WithT, why string) {
	w.t.Helper()
	recorded := w.stack().Status.Run
	g.Expect(recorded).NotTo(BeNil(), why)
	todo := w.runner.runs[recorded.ID]
	g.Expect(todo.Operation).To(Equal(run.Update), why)
	g.Expect(todo.Options.Refresh).To(BeTrue(), why)
}

// expectDone ends the run and expects that nothing is left of the request.
func (w *world) expectDone(g *WithT) {
	w.t.Helper()
	w.endRun(run.Succeeded, "", run.Changes{})
	before := w.runner.started
	w.passTime(24 * time.Hour)
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(before), "each value counts once")
	stack := w.stack()
	g.Expect(conditions.IsReady(stack)).To(BeTrue())
	g.Expect(stack.Status.RunPending).To(BeFalse())
	g.Expect(stack.Status.RefreshPending).To(BeFalse())
}

// appliedWorld has a Stack that is in sync.
func appliedWorld(t *testing.T) (*world, *testSource) {
	t.Helper()
	w, from := sourceWorld(t)
	w.run(run.Succeeded, "", run.Changes{Created: 1})
	w.mustReconcile()
	return w, from
}

func TestARequestOutlivesARefusedStart(t *testing.T) {
	g := NewWithT(t)
	w, _ := appliedWorld(t)
	w.edit(force("x"))
	w.runner.refuse = true
	_, err := w.reconcile()
	g.Expect(err).To(MatchError(run.ErrRefused))
	g.Expect(w.stack().Status.Run).To(BeNil())

	w.runner.refuse = false
	w.mustReconcile()
	w.expectForcedRun(g, "the next process runs it")
	w.expectDone(g)
}

func TestARequestOutlivesALateWithdrawal(t *testing.T) {
	g := NewWithT(t)
	w, _ := appliedWorld(t)
	w.edit(force("x"))
	w.mustReconcile()
	clear(w.runner.runs) // as if the start had been refused, and the write to withdraw it too
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	w.mustReconcile()
	w.expectForcedRun(g, "it has not started")
	w.expectDone(g)
}

func TestARefreshIsPendingUntilARunSucceeds(t *testing.T) {
	for _, outcome := range []run.Outcome{
		run.Failed, run.TimedOut, run.Locked, run.BackendUnavailable, run.ArtifactFailed, run.AccountFailed, run.Cancelled,
	} {
		t.Run(string(outcome), func(t *testing.T) {
			g := NewWithT(t)
			w, _ := appliedWorld(t)
			w.edit(force("x"))
			w.mustReconcile()
			w.expectForcedRun(g, "as asked for")
			w.endRun(outcome, "no luck", run.Changes{})
			if outcome != run.Cancelled {
				w.mustReconcile()
				g.Expect(w.stack().Status.Run).To(BeNil(), "the request is answered: what failed waits for the retry interval")
			}
			w.edit(func(s *v1.Stack) { s.Annotations = nil }) // as an apply of the manifest may do
			w.passTime(24 * time.Hour)
			w.mustReconcile()
			w.expectForcedRun(g, "the retry")
			w.expectDone(g)
		})
	}
}

func TestARefreshIsPendingAfterALostRun(t *testing.T) {
	g := NewWithT(t)
	w, _ := appliedWorld(t)
	w.edit(force("x"))
	w.mustReconcile()
	w.others.gone = true
	w.Holder.Instance = "b"
	clear(w.runner.runs)
	w.mustReconcile() // lost
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationRecover))
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	w.expectForcedRun(g, "after the recovery")
	w.expectDone(g)
}

// interruptedTwice has a Stack whose run was lost twice, so that it does not run again
// right after the recovery.
func interruptedTwice(t *testing.T) *world {
	t.Helper()
	w, _ := sourceWorld(t)
	w.others.gone = true
	for range 2 {
		w.passTime(24 * time.Hour)
		w.mustReconcile()
		for w.stack().Status.Run == nil || w.stack().Status.Run.Operation == v1.OperationRecover {
			w.endOrStart()
		}
		w.Holder.Instance += "x"
		clear(w.runner.runs)
		w.mustReconcile()
	}
	return w
}

// endOrStart ends the recovery in flight, or starts the next run.
func (w *world) endOrStart() {
	w.t.Helper()
	if w.stack().Status.Run != nil {
		w.endRecovery(run.Succeeded)
	}
	w.mustReconcile()
}

// endRecovery ends the recovery in flight at the current time of the clock.
func (w *world) endRecovery(outcome run.Outcome) {
	w.t.Helper()
	id := w.stack().Status.Run.ID
	w.runner.end(id, outcome, "no luck")
	w.runner.results[id].StartedAt, w.runner.results[id].EndedAt = w.Now(), w.Now()
	w.mustReconcile()
}

func TestARequestComesAtOnceAfterTheRecovery(t *testing.T) {
	g := NewWithT(t)
	w := interruptedTwice(t)
	w.edit(force("x"))
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.Run.Operation).To(Equal(v1.OperationRecover))
	g.Expect(stack.Status.LastHandledReconcileAt).To(Equal("x"), "who waits for it sees that it is taken up")
	w.endRecovery(run.Succeeded)
	w.mustReconcile()
	w.expectForcedRun(g, "the run that is asked for does not wait")
	w.expectDone(g)
}

func TestARecoveryWithoutARequestIsFollowedByTheBackOff(t *testing.T) {
	g := NewWithT(t)
	w := interruptedTwice(t)
	w.mustReconcile()
	w.endRecovery(run.Succeeded)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
}

func TestARequestHurriesARecoveryOnlyOnce(t *testing.T) {
	g := NewWithT(t)
	w := interruptedTwice(t)
	w.edit(force("x"))
	w.mustReconcile()
	w.endRecovery(run.Failed)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "a recovery that failed waits for the retry interval")
	w.passTime(24 * time.Hour)
	w.mustReconcile()
	w.endRecovery(run.Succeeded)
	w.mustReconcile()
	w.expectForcedRun(g, "and then it is the turn of the run")
	w.expectDone(g)
}

func TestAForcedRequestThatMeetsAProblemIsForcedAfterIt(t *testing.T) {
	t.Run("a passing one", func(t *testing.T) {
		g := NewWithT(t)
		w, from := appliedWorld(t)
		from.err = source.ErrNotReady
		w.edit(force("x"))
		w.mustReconcile()
		w.mustReconcile()
		g.Expect(w.stack().Status.LastHandledReconcileAt).To(Equal("x"))
		from.err = nil
		w.mustReconcile()
		w.expectForcedRun(g, "the source is back")
		w.expectDone(g)
	})
	t.Run("one that is mended", func(t *testing.T) {
		g := NewWithT(t)
		w, _ := appliedWorld(t)
		w.edit(func(s *v1.Stack) { s.Spec.Stack, s.Generation = "bad//", 2; force("x")(s) })
		w.mustReconcile()
		g.Expect(conditions.IsStalled(w.stack())).To(BeTrue())
		w.edit(func(s *v1.Stack) { s.Spec.Stack, s.Generation = "organization/app/dev", 3 })
		w.mustReconcile()
		w.expectForcedRun(g, "the spec is as it was before")
		w.expectDone(g)
	})
}

// A Stack whose runs never got as far as Pulumi has created nothing. A request that meets
// a problem does not change that.
func TestARequestThatMeetsAProblemLeavesNothingToDestroy(t *testing.T) {
	g := NewWithT(t)
	w, from := sourceWorld(t)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.ArtifactFailed, "no luck")
	w.runner.results[id].Project = run.Project{}
	w.mustReconcile()
	g.Expect(stackstatus.NeverRan(w.stack())).To(BeTrue())
	from.err = source.ErrNotReady
	w.edit(force("x"))
	w.mustReconcile()
	g.Expect(stackstatus.NeverRan(w.stack())).To(BeTrue())
	g.Expect(stackstatus.MustExist(w.stack())).To(BeFalse())
}

func TestARequestLeavesNoPendingRunOnASuspendedStack(t *testing.T) {
	g := NewWithT(t)
	w, _ := appliedWorld(t)
	w.edit(func(s *v1.Stack) { s.Spec.Suspend = true; force("x")(s) })
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.LastHandledReconcileAt).To(Equal("x"))
	w.edit(func(s *v1.Stack) { s.Spec.Suspend = false })
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(w.stack().Status.RefreshPending).To(BeFalse())
}
