// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const lostURN = "urn:pulumi:dev::app::lab:index:Thing::lost"

// forcedAway is a world whose Stack lost its finalizer in mid-run and is gone. Its run
// left a creation of unknown outcome.
func forcedAway(t *testing.T) *world {
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.edit(func(s *v1.Stack) { s.Finalizers = nil })
	NewWithT(t).Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.runner.end(id, run.Failed, "the provider died")
	w.runner.results[id].UnknownCreates, w.runner.results[id].Backend = []string{lostURN}, "file:///state"
	return w
}

// makeAnew recreates the Stack.
func (w *world) makeAnew(change func(*v1.Stack)) {
	w.t.Helper()
	stack := programAndStack()[1].(*v1.Stack)
	change(stack)
	if err := w.Create(context.Background(), stack); err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatTheRunOfADeletedStackLeavesIsAnnounced(t *testing.T) {
	g := NewWithT(t)
	w := forcedAway(t)
	w.mustReconcile()
	g.Expect(w.events.lines).To(ConsistOf(And(HavePrefix("Warning PendingOperations"), HaveSuffix(lostURN))))
	g.Expect(w.runner.results).To(BeEmpty())
}

func TestTheRunOfADeletedStackIsNotForgottenBeforeItsResultIsRead(t *testing.T) {
	g := NewWithT(t)
	w := forcedAway(t)
	w.runner.unreadable = true
	_, err := w.reconcile()
	g.Expect(err).To(MatchError(ContainSubstring("cannot be read yet")))
	w.makeAnew(func(*v1.Stack) {})
	_, err = w.reconcile()
	g.Expect(err).To(MatchError(ContainSubstring("cannot be read yet")))
	g.Expect(w.events.lines).To(BeEmpty())

	w.runner.unreadable = false
	w.mustReconcile()
	g.Expect(w.events.lines).To(ContainElement(And(HavePrefix("Warning PendingOperations"), HaveSuffix(lostURN))))
	g.Expect(w.stack().Status.UnknownCreates).To(ConsistOf(lostURN))
}

func TestARunThatWasKilledAfterItsStackWasDeletedIsAnnounced(t *testing.T) {
	g := NewWithT(t)
	w := forcedAway(t)
	for _, result := range w.runner.results {
		result.Interrupted, result.UnknownCreates = true, nil
	}
	w.mustReconcile()
	g.Expect(w.events.lines).To(ConsistOf(And(HavePrefix("Warning RunInterrupted"), ContainSubstring("may still be locked"))))
}

func TestARecreatedStackKnowsWhatTheEarlierOneLeft(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1.Stack)
		want   bool
	}{
		"the same stack":                 {func(*v1.Stack) {}, true},
		"by its whole name":              {func(s *v1.Stack) { s.Spec.Stack = "organization/app/dev" }, true},
		"a backend that is not reported": {func(s *v1.Stack) { s.Spec.Backend = "" }, true},
		"another stack":                  {func(s *v1.Stack) { s.Spec.Stack = "test" }, false},
		"a stack of another project":     {func(s *v1.Stack) { s.Spec.Stack = "organization/web/dev" }, false},
		"a stack in another backend":     {func(s *v1.Stack) { s.Spec.Backend = "file:///elsewhere" }, false},
		"a stack of which nobody asks":   {func(s *v1.Stack) { s.Spec.Stack = "//" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := forcedAway(t)
			w.makeAnew(test.change)
			w.mustReconcile()
			g.Expect(w.events.lines).To(ContainElement(And(HavePrefix("Warning PendingOperations"), HaveSuffix(lostURN))))
			g.Expect(w.runner.results).To(BeEmpty())
			if !test.want {
				g.Expect(w.stack().Status.UnknownCreates).To(BeEmpty())
				return
			}
			g.Expect(w.stack().Status.UnknownCreates).To(ConsistOf(lostURN))
			g.Expect(conditions.IsStalled(w.stack())).To(BeTrue())
			g.Expect(w.runner.started).To(Equal(1), "nothing is made a second time")
		})
	}
}

// They are no longer in the state, and neither a status nor an event has named them.
func TestCreationsForgottenByAnAbandonedRecoveryAreNamed(t *testing.T) {
	g := NewWithT(t)
	w := forcedAway(t)
	for _, result := range w.runner.results {
		result.Outcome, result.UnknownCreates, result.Forgotten = run.Succeeded, nil, []string{lostURN}
	}
	w.makeAnew(func(*v1.Stack) {})
	w.mustReconcile()
	g.Expect(w.events.lines).To(ContainElement(And(HavePrefix("Warning PendingOperations"), HaveSuffix(lostURN))))
	g.Expect(w.stack().Status.UnknownCreates).To(ConsistOf(lostURN))
	w.mustReconcile()
	g.Expect(w.stack().Finalizers).To(ContainElement(v1.StackFinalizer), "it may have made something")
}

func TestARecreatedStackMayClearWhatTheEarlierOneLeft(t *testing.T) {
	g := NewWithT(t)
	w := forcedAway(t)
	w.makeAnew(func(s *v1.Stack) { s.Spec.PendingCreates = v1.PendingCreatesClear })
	next := w.nextRun()
	g.Expect(next.Operation).To(Equal(run.Recover))
	g.Expect(next.UnknownCreates).To(ConsistOf(lostURN))
}

func TestAResultWhoseWriteGotNoResponseIsNotAnnouncedAsAbandoned(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Failed, "the provider died")
	w.runner.results[id].UnknownCreates = []string{lostURN}
	w.afterWrite = func(int) error { return context.DeadlineExceeded }
	_, err := w.reconcile()
	g.Expect(err).To(HaveOccurred())
	w.afterWrite = nil
	g.Expect(w.stack().Status.UnknownCreates).To(ConsistOf(lostURN), "it is written")
	w.mustReconcile()
	g.Expect(w.runner.results).To(BeEmpty())
	g.Expect(w.events.lines).NotTo(ContainElement(ContainSubstring("removed by force")))
}
