// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
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
		"one that was updated":                 {v1.UpdateSucceeded, gitCommit40, true},
		"one that was updated, of no commit":   {v1.UpdateSucceeded, "", true},
		"one that failed after it was updated": {v1.UpdateFailed, gitCommit40, true},
		"one of which no update has succeeded": {v1.UpdateFailed, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(movedWorld(t, test.state, test.commit).nextRun().MustExist).To(Equal(test.want), "its update")
			w := movedWorld(t, test.state, test.commit)
			g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
			destroy := w.nextRun()
			g.Expect(destroy.Operation).To(Equal(run.Destroy))
			g.Expect(destroy.MustExist).To(Equal(test.want), "its destroy")
		})
	}
}

func TestAStackOfTheOperatorMustExistUntilItIsFound(t *testing.T) {
	g := NewWithT(t)
	w := movedWorld(t, v1.UpdateSucceeded, gitCommit40)
	w.nextRun()
	w.endNow(run.Failed, nil) // it is not there
	w.edit(func(s *v1.Stack) { s.Spec.Backend = "file:///elsewhere"; s.Generation++ })
	g.Expect(w.nextRun().MustExist).To(BeTrue())
	w.endNow(run.Failed, func(r *run.Result) { r.Backend = "file:///elsewhere" })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	g.Expect(w.nextRun().MustExist).To(BeFalse(), "an earlier destroy may have got to it, and nobody have seen it")
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

func TestADestroyOfAStackOfTheOperatorMayHaveBeenDone(t *testing.T) {
	g := NewWithT(t)
	w := movedWorld(t, v1.UpdateSucceeded, gitCommit40)
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.nextRun()
	w.endNow(run.Failed, func(r *run.Result) { r.Interrupted = true })
	g.Expect(w.nextRun().MustExist).To(BeFalse(), "the recovery")
	w.endNow(run.Succeeded, nil)
	again := w.nextRun()
	g.Expect(again.Operation).To(Equal(run.Destroy))
	g.Expect(again.MustExist).To(BeFalse())
}

// A recovery has run no program, so that it proves no stack of another controller.
func TestAStackThatWasInterruptedNeedNotExist(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	record := v1.RunStatus{ID: "run-1", Operation: v1.OperationUpdate, Revision: "main@sha1:" + gitCommit40, Digest: "sha256:inputs"}
	recordRun(stack, record)
	loseRun(stack, "gone", started)
	record.Operation = v1.OperationRecover
	recordRun(stack, record)
	absorb(stack, result(run.Succeeded, ""))
	g.Expect(stack.Status.LastUpdate.LastSuccessfulCommit).To(BeEmpty())
	stack.Status.ProjectInfo.Backend, stack.Status.Resources = "", nil // it was killed before the stack was made
	g.Expect(mustExist(stack, run.Update)).To(BeFalse())
}
