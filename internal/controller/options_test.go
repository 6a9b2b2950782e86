// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// optionsWorld has a Stack with the given change of its spec.
func optionsWorld(t *testing.T, change func(*v1.StackSpec)) *world {
	t.Helper()
	w := newWorld(t, programAndStack()...)
	w.edit(func(s *v1.Stack) { change(&s.Spec) })
	return w
}

// endRun ends the run in flight and absorbs its result.
func (w *world) endRun(outcome run.Outcome, message string, changes run.Changes) {
	w.t.Helper()
	id := w.stack().Status.Run.ID
	w.runner.end(id, outcome, message)
	w.runner.results[id].Changes = changes
	w.mustReconcile()
}

// passTime advances the clock of the reconciler.
func (w *world) passTime(d time.Duration) {
	now := w.Now().Add(d)
	w.Now = func() time.Time { return now }
}

func (w *world) deleted() bool {
	return apierrors.IsNotFound(w.Get(context.Background(), key, &v1.Stack{}))
}

func TestOptionsReachTheRun(t *testing.T) {
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) {
		s.Refresh, s.ExpectNoRefreshChanges, s.RunProgram, s.TargetDependents = true, true, true, true
		s.Targets = []string{"urn:b", "urn:a"}
	})
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Options).To(Equal(run.Options{
		Refresh: true, ExpectNoRefreshChanges: true, RunProgram: true, TargetDependents: true, Targets: []string{"urn:b", "urn:a"},
	}))
}

func TestOptionsThatChangeWhatPulumiDoesStartARun(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1.StackSpec)
		want   int
	}{
		"refresh":                     {func(s *v1.StackSpec) { s.Refresh = true }, 2},
		"targets":                     {func(s *v1.StackSpec) { s.Targets = []string{"urn:a"} }, 2},
		"preview":                     {func(s *v1.StackSpec) { s.Preview = true }, 2},
		"continueResyncOnCommitMatch": {func(s *v1.StackSpec) { s.ContinueResyncOnCommitMatch = true }, 1},
		"retryOnUpdateConflict":       {func(s *v1.StackSpec) { s.RetryOnUpdateConflict = true }, 1},
		"secretsProvider":             {func(s *v1.StackSpec) { s.SecretsProvider = "passphrase" }, 2},
		"useLocalStackOnly":           {func(s *v1.StackSpec) { s.UseLocalStackOnly = true }, 1},
		"runProgram, which only affects a destroy": {func(s *v1.StackSpec) { s.RunProgram = true }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			w.mustReconcile()
			w.endRun(run.Succeeded, "", run.Changes{})
			w.edit(func(s *v1.Stack) { test.change(&s.Spec) })
			w.mustReconcile()
			g.Expect(w.runner.started).To(Equal(test.want))
		})
	}
}

func TestAPreviewKeepsWhatWasApplied(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{Created: 4})
	applied := w.stack().Status

	w.edit(func(s *v1.Stack) { s.Spec.Preview = true; s.Generation++ })
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	g.Expect(w.runner.runs[id].Operation).To(Equal(run.Preview))
	g.Expect(w.runner.runs[id].Project.Name).To(Equal("app"))
	w.runner.end(id, run.Succeeded, "")
	w.runner.results[id].Outputs = map[string]json.RawMessage{"o": json.RawMessage(`"planned"`)}
	w.runner.results[id].Changes = run.Changes{Created: 2, Updated: 1, Replaced: 4, Deleted: 5, Same: 3}
	w.mustReconcile()

	stack := w.stack()
	want := "Previewed revision " + stack.Status.LastAttemptedRevision + ": 2 to create, 1 to update, 4 to replace, 5 to delete, 3 unchanged"
	g.Expect(conditions.IsReady(stack)).To(BeTrue())
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal(want))
	g.Expect(stack.Status.ObservedGeneration).To(Equal(stack.Generation))
	g.Expect(stack.Status.LastUpdate.Type).To(Equal(v1.UpdateTypePreview))
	g.Expect(stack.Status.LastAppliedDigest).To(Equal(applied.LastAppliedDigest))
	g.Expect(stack.Status.LastAppliedRevision).To(Equal(applied.LastAppliedRevision))
	g.Expect(stack.Status.Resources).To(Equal(applied.Resources))
	g.Expect(stack.Status.Outputs).To(Equal(applied.Outputs))
	g.Expect(w.events.lines).To(ContainElement("Normal ReconciliationSucceeded " + want + ", in 1s"))

	writes := w.writes
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes), "nothing is written when nothing has changed")
	g.Expect(w.runner.started).To(Equal(2))

	w.edit(func(s *v1.Stack) { s.Spec.Interval = &metav1.Duration{Duration: time.Hour}; s.Generation++ })
	w.mustReconcile()
	g.Expect(w.stack().Status.ObservedGeneration).To(Equal(w.stack().Generation))
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(Equal(want), "still what the preview has found")

	w.edit(func(s *v1.Stack) { s.Spec.Preview = false })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationUpdate), "with the same inputs")
}

func TestAPreviewNeedsNoRecoveryAndDestroysNothing(t *testing.T) {
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) { s.Preview = true })
	w.mustReconcile()
	w.runner = newTestRunner()
	w.Runner, w.Holder.Instance, w.others.gone = w.runner, "b", true
	w.mustReconcile()
	g.Expect(w.stack().Status.Interrupted).To(BeEmpty())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationPreview), "run again at once")
	w.endRun(run.Failed, "no such bucket", run.Changes{})
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.PreviewFailedReason))

	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue())
	g.Expect(w.runner.started).To(Equal(1))
}

func TestAStackThatWasAppliedIsNotDestroyedWhileItPreviews(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.edit(func(s *v1.Stack) { s.Spec.Preview = true })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue())
	g.Expect(w.events.lines).To(ContainElement("Warning NotDestroyed The Stack was deleted while it only previewed: stack dev was not destroyed"))
}

func TestAStackThatOnlyEverPreviewedHasNothingToDestroy(t *testing.T) {
	preview := func(t *testing.T) *world {
		w := optionsWorld(t, func(s *v1.StackSpec) { s.Preview = true })
		return w
	}
	g := NewWithT(t)
	w := preview(t)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{Same: 1})
	w.edit(func(s *v1.Stack) { s.Spec.Preview = false })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue(), "the stack is someone else's")

	w = preview(t)
	stack := w.stack()
	stack.Status.LastUpdate = &v1.LastUpdate{State: v1.UpdateSucceeded, Type: v1.UpdateTypeUp, LastSuccessfulCommit: gitCommit40}
	g.Expect(w.Status().Update(context.Background(), stack)).To(Succeed())
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{Same: 1})
	w.edit(func(s *v1.Stack) { s.Spec.Preview = false })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationRecover), "the Pulumi operator had made the stack, which is looked for first")
}

func TestAStackIsRunAgainAtEachInterval(t *testing.T) {
	g := NewWithT(t)
	w := optionsWorld(t, func(s *v1.StackSpec) { s.ContinueResyncOnCommitMatch = true })
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.passTime(v1.DefaultInterval)
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(time.Second), "the run has ended one second after it began")
	g.Expect(w.runner.started).To(Equal(1))
	w.passTime(time.Second)
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2))
}

func TestRetryDelayByOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		outcome run.Outcome
		change  func(*v1.StackSpec)
		want    []time.Duration
	}{
		"a backend":          {run.BackendUnavailable, nil, []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute}},
		"a registry":         {run.RegistryUnavailable, nil, []time.Duration{10 * time.Second, 20 * time.Second}},
		"an artifact":        {run.ArtifactFailed, nil, []time.Duration{10 * time.Second, 20 * time.Second}},
		"a lock":             {run.Locked, nil, []time.Duration{time.Minute, time.Minute}},
		"a lock, if asked":   {run.Locked, func(s *v1.StackSpec) { s.RetryOnUpdateConflict = true }, []time.Duration{5 * time.Second, 10 * time.Second}},
		"a failing program":  {run.Failed, nil, []time.Duration{time.Minute, time.Minute}},
		"unexpected changes": {run.Drifted, nil, []time.Duration{time.Minute, time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := optionsWorld(t, func(s *v1.StackSpec) {
				s.RetryInterval = &metav1.Duration{Duration: time.Minute}
				if test.change != nil {
					test.change(s)
				}
			})
			w.mustReconcile()
			for i, want := range test.want {
				id := w.stack().Status.Run.ID
				w.runner.end(id, test.outcome, "not now")
				w.runner.results[id].EndedAt = w.Now()
				w.mustReconcile()
				g.Expect(w.mustReconcile().RequeueAfter).To(Equal(want), "failure %d", i+1)
				g.Expect(w.stack().Status.Failures).To(BeEquivalentTo(i + 1))
				w.passTime(want)
				w.mustReconcile()
				g.Expect(w.runner.started).To(Equal(i + 2))
			}
		})
	}
}

func TestFailuresOfRecoveriesAreCounted(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Failed, "killed")
	w.runner.results[id].Interrupted = true
	w.mustReconcile()
	for range 2 {
		w.passTime(v1.DefaultInterval)
		w.mustReconcile()
		w.endRun(run.BackendUnavailable, "connection refused", run.Changes{})
	}
	g.Expect(w.stack().Status.Failures).To(BeEquivalentTo(3), "without backoff the backend would be asked every ten seconds")
}

func TestADestroyThatRunsTheProgramNeedsIt(t *testing.T) {
	g := NewWithT(t)
	objects := programAndStack()
	w := newWorld(t, objects...)
	w.edit(func(s *v1.Stack) { s.Spec.RunProgram = true })
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	g.Expect(w.Delete(context.Background(), &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}})).To(Succeed())
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())

	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(meta.ArtifactFailedReason))
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(ContainSubstring("the destroy needs it, because spec.runProgram is set"))
	g.Expect(w.runner.started).To(Equal(1))

	objects[0].SetResourceVersion("")
	g.Expect(w.Create(context.Background(), objects[0])).To(Succeed())
	w.mustReconcile()
	destroy := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(destroy.Operation).To(Equal(run.Destroy))
	g.Expect(destroy.Options.RunProgram).To(BeTrue())
	g.Expect(destroy.Program.YAML).NotTo(BeEmpty())
}
