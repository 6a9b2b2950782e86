// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// movedWorld has a Stack that the Pulumi operator has updated.
func movedWorld(t *testing.T, state v1.UpdateState, commit string) *world {
	objects := programAndStack()
	moved := objects[1].(*v1.Stack)
	moved.Finalizers = []string{v1.StackFinalizer}
	moved.Status.LastUpdate = &v1.LastUpdate{
		State: state, Type: v1.UpdateTypeUp, LastSuccessfulCommit: commit, LastResyncTime: &metav1.Time{Time: started},
	}
	return newWorld(t, objects...)
}

func (w *world) nextRun() run.Run {
	w.t.Helper()
	w.mustReconcile()
	return w.runner.runs[w.stack().Status.Run.ID]
}

func TestAStackOfTheOperatorMustExist(t *testing.T) {
	for name, test := range map[string]struct {
		state  v1.UpdateState
		commit string
		want   bool
	}{
		"one that was updated":                   {v1.UpdateSucceeded, gitCommit40, true},
		"one that was updated, without a commit": {v1.UpdateSucceeded, "", true},
		"one that failed after it was updated":   {v1.UpdateFailed, gitCommit40, true},
		"one of which no update has succeeded":   {v1.UpdateFailed, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(movedWorld(t, test.state, test.commit).nextRun().MustExist).To(Equal(test.want), "its update")
			w := movedWorld(t, test.state, test.commit)
			g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
			first := w.nextRun()
			g.Expect(first.MustExist).To(Equal(test.want), "its deletion")
			if test.want {
				g.Expect(first.Operation).To(Equal(run.Recover), "it is looked for before it is destroyed")
				w.endNow(run.Succeeded, func(r *run.Result) { r.Backend = "file:///state" })
				first = w.nextRun()
			}
			g.Expect(first.Operation).To(Equal(run.Destroy))
			g.Expect(first.MustExist).To(BeFalse())
		})
	}
}

func TestAStackOfTheOperatorMustExistUntilItIsFound(t *testing.T) {
	g := NewWithT(t)
	w := movedWorld(t, v1.UpdateSucceeded, gitCommit40)
	w.nextRun()
	w.endNow(run.Failed, nil) // the stack is not there
	w.edit(func(s *v1.Stack) { s.Spec.Backend = "file:///elsewhere"; s.Generation++ })
	g.Expect(w.nextRun().MustExist).To(BeTrue())
	w.endNow(run.Failed, func(r *run.Result) { r.Backend = "file:///elsewhere" })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	g.Expect(w.nextRun().MustExist).To(BeFalse(), "an earlier destroy may have removed the stack unnoticed")
}

func TestARecoveryIsBoundToFindAStackOfTheOperator(t *testing.T) {
	g := NewWithT(t)
	w := movedWorld(t, v1.UpdateSucceeded, gitCommit40)
	w.nextRun()
	w.endNow(run.Failed, func(r *run.Result) { r.Interrupted = true })
	recovery := w.nextRun()
	g.Expect(recovery.Operation).To(Equal(run.Recover))
	g.Expect(recovery.MustExist).To(BeTrue())
}

// Only the status says that the operator has updated it, and our first run overwrites
// that.
func TestAStackOfTheOperatorMustExistAfterRunsThatMissedIt(t *testing.T) {
	for name, end := range map[string]func(*world){
		"as its backend is another": func(w *world) { w.endNow(run.Failed, nil) },
		"as its artifact is gone": func(w *world) {
			w.endNow(run.ArtifactFailed, func(r *run.Result) { r.Project = run.Project{} })
		},
		"as it was killed": func(w *world) { w.endNow(run.Failed, byForce) },
		"as its controller was lost": func(w *world) {
			clear(w.runner.runs)
			w.Holder.Instance, w.others.gone = "b", true
			w.mustReconcile()
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := movedWorld(t, v1.UpdateSucceeded, "")
			for range 3 {
				g.Expect(w.nextRun().MustExist).To(BeTrue())
				end(w)
				w.passTime(time.Hour)
			}
			g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
			for range 3 {
				todo := w.nextRun()
				g.Expect(todo.Operation).To(Equal(run.Recover), "it is not destroyed before it is found")
				g.Expect(todo.MustExist).To(BeTrue())
				end(w)
				w.passTime(time.Hour)
			}
			g.Expect(w.nextRun().Operation).To(Equal(run.Recover))
			w.endNow(run.Succeeded, func(r *run.Result) { r.Backend = "file:///state" })
			destroy := w.nextRun()
			g.Expect(destroy.Operation).To(Equal(run.Destroy), "at once, however often it was not found")
			g.Expect(destroy.MustExist).To(BeFalse())
		})
	}
}

func TestADestroyOfAStackOfTheOperatorMayHaveBeenDone(t *testing.T) {
	g := NewWithT(t)
	w := movedWorld(t, v1.UpdateSucceeded, "")
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	g.Expect(w.nextRun().MustExist).To(BeTrue(), "the look for it")
	w.endNow(run.Succeeded, func(r *run.Result) { r.Backend = "file:///state" })
	g.Expect(w.nextRun().Operation).To(Equal(run.Destroy))
	w.endNow(run.Failed, byForce)
	recovery := w.nextRun()
	g.Expect(recovery.Operation).To(Equal(run.Recover))
	g.Expect(recovery.MustExist).To(BeFalse(), "it was there, and may have been removed")
	w.endNow(run.Succeeded, nil)
	again := w.nextRun()
	g.Expect(again.Operation).To(Equal(run.Destroy))
	g.Expect(again.MustExist).To(BeFalse())
}

func TestAStackThatTheOperatorHasDestroyedNeedNotExist(t *testing.T) {
	g := NewWithT(t)
	w := movedWorld(t, v1.UpdateSucceeded, gitCommit40)
	stack := w.stack()
	stack.Status.LastUpdate.Type = v1.UpdateTypeDestroy
	g.Expect(w.Status().Update(context.Background(), stack)).To(Succeed())
	first := w.nextRun()
	g.Expect(first.Operation).To(Equal(run.Update))
	g.Expect(first.MustExist).To(BeFalse(), "it may be made again")
}

// A recovery runs no program, so it does not prove that another controller had a stack.
func TestAStackThatWasInterruptedNeedNotExist(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	record := v1.RunStatus{ID: "run-1", Operation: v1.OperationUpdate, Revision: "main@sha1:" + gitCommit40, Digest: "sha256:inputs"}
	stackstatus.RecordRun(stack, record)
	stackstatus.MarkInterrupted(stack, "gone", started)
	record.Operation = v1.OperationRecover
	stackstatus.RecordRun(stack, record)
	stackstatus.AbsorbResult(stack, &run.Result{Outcome: run.Succeeded, Project: run.Project{Name: "app", Runtime: "yaml"}, StartedAt: started, EndedAt: started})
	g.Expect(stack.Status.LastUpdate.LastSuccessfulCommit).To(BeEmpty())
	stack.Status.ProjectInfo.Backend, stack.Status.Resources = "", nil // it was killed before the stack was created
	g.Expect(stackstatus.MustExist(stack)).To(BeFalse())
}

// What the operator had in flight may have created resources, even if nobody saw how
// that, or our run since, ended.
func TestAnUpdateThatTheOperatorHadInFlightIsNotForgotten(t *testing.T) {
	g := NewWithT(t)
	objects := programAndStack()
	objects[1].(*v1.Stack).Status.CurrentUpdate = &v1.CurrentUpdate{Generation: 1, Name: "app-1"}
	w := newWorld(t, objects...)
	first := w.nextRun()
	g.Expect(first.MustExist).To(BeTrue())
	g.Expect(first.InspectFirst).To(BeTrue())
	w.endNow(run.WorkspaceFailed, func(r *run.Result) { r.Project = run.Project{} })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	look := w.nextRun()
	g.Expect(look.Operation).To(Equal(run.Recover), "the stack is looked for before the Stack is released")
	g.Expect(look.MustExist).To(BeTrue())
	w.endNow(run.Failed, nil)
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeFalse())
}

// Whoever ran the stack before may have died doing so: the first run that finds it looks.
func TestRunsInspectAStackUntilOneHasFoundIt(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	g.Expect(w.nextRun().InspectFirst).To(BeTrue())
	w.endNow(run.Locked, nil)
	w.passTime(time.Hour)
	g.Expect(w.nextRun().InspectFirst).To(BeTrue())
	w.endNow(run.Succeeded, func(r *run.Result) { r.Backend = "file:///state" })
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true; s.Generation++ })
	g.Expect(w.nextRun().InspectFirst).To(BeFalse())
}

// A preview works although no run of ours has found the stack yet.
func TestAPreviewDoesNotInspectWhatIsInFlight(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.edit(func(s *v1.Stack) { s.Spec.Preview = true; s.Generation++ })
	preview := w.nextRun()
	g.Expect(preview.Operation).To(Equal(run.Preview))
	g.Expect(preview.InspectFirst).To(BeFalse())
}

// A stack that is missing was not destroyed, unless a destroy whose end nobody saw had
// deleted every resource.
func TestOnlyADestroyOfOursMayHaveRemovedTheStack(t *testing.T) {
	for name, test := range map[string]struct {
		emptied   bool
		recovered string
		want      string
	}{
		"it is gone":               {true, "", ""},
		"it is lost":               {false, "", "app"},
		"it is still there":        {false, "file:///state", "app"},
		"it is still there, empty": {true, "file:///state", "app"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			w.nextRun()
			w.endNow(run.Succeeded, func(r *run.Result) { r.Backend = "file:///state" })
			g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
			g.Expect(w.nextRun().Known.Name).To(Equal("app"))
			w.endNow(run.Failed, byForce)
			g.Expect(w.nextRun().Operation).To(Equal(run.Recover))
			w.endNow(run.Succeeded, func(r *run.Result) { r.Backend, r.Emptied = test.recovered, test.emptied })
			again := w.nextRun()
			g.Expect(again.Operation).To(Equal(run.Destroy))
			g.Expect(again.Known.Name).To(Equal(test.want))
		})
	}
}

// The holder of the lock was at work when our run inspected the stack, and may have died since.
func TestALockMakesTheNextRunInspect(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	found := func(r *run.Result) { r.Backend = "file:///state" }
	g.Expect(w.nextRun().InspectFirst).To(BeTrue(), "it is the first")
	w.endNow(run.Locked, found)
	w.passTime(time.Hour)
	g.Expect(w.nextRun().InspectFirst).To(BeTrue(), "it was locked")
	w.endNow(run.BackendUnavailable, nil)
	w.passTime(time.Hour)
	g.Expect(w.nextRun().InspectFirst).To(BeTrue(), "nobody has inspected it since")
	w.endNow(run.Failed, byForce)
	w.passTime(time.Hour)
	recovery := w.nextRun()
	g.Expect(recovery.Operation).To(Equal(run.Recover))
	g.Expect(recovery.InspectFirst).To(BeTrue(), "the interrupted run was to inspect it")
	g.Expect(recovery.Interrupted).To(ConsistOf(HaveField("Operation", run.Update)))
	w.endNow(run.Succeeded, found)
	w.passTime(time.Hour)
	g.Expect(w.nextRun().InspectFirst).To(BeFalse())
	w.endNow(run.Locked, found)
	w.edit(func(s *v1.Stack) { s.Spec.Preview = true; s.Generation++ })
	g.Expect(w.nextRun().InspectFirst).To(BeFalse(), "a preview makes nothing")
	w.endNow(run.Succeeded, nil)
	w.edit(func(s *v1.Stack) { s.Spec.Preview = false; s.Generation++ })
	g.Expect(w.nextRun().InspectFirst).To(BeTrue())
}
