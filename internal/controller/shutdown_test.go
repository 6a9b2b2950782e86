// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

func refTo(id string) []run.Ref {
	return []run.Ref{{ID: id, Namespace: key.Namespace, Name: key.Name}}
}

func TestResultsAreWrittenAsLongAsThereIsTime(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Cancelled, "the controller is shutting down")
	// More than the 7 tries, or 6 seconds, after which it once gave up.
	tries := 0
	w.failWrite = func(int) error {
		if tries++; tries <= 10 {
			return errors.New("connection refused")
		}
		return nil
	}
	g.Expect(w.WriteAll(context.Background(), refTo(id))).To(Succeed())
	g.Expect(w.stack().Status.Run).To(BeNil())
}

func TestTheLastWritesStopAtTheDeadline(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	ctx, cancel := context.WithCancel(context.Background())
	w.failWrite = func(n int) error {
		if n > 4 {
			cancel()
		}
		return errors.New("connection refused")
	}
	g.Expect(w.WriteAll(ctx, refTo(id))).To(MatchError(And(ContainSubstring(id), ContainSubstring("connection refused"))))
	g.Expect(w.runner.results).To(HaveKey(id), "it stays for the next process")

	w.failWrite = func(int) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "stacks"}, "app", errors.New("no such right"))
	}
	g.Expect(w.WriteAll(context.Background(), refTo(id))).To(MatchError(ContainSubstring("no such right")), "a forbidden write is not retried")
}

// A Stack that cannot be written does not hold up others.
func TestResultsOfManyStacksAreWrittenConcurrently(t *testing.T) {
	g := NewWithT(t)
	const stacks = 3 * lastWritesAtOnce
	var objects []client.Object
	var ended []run.Ref
	for i := range stacks {
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("app-%02d", i), Namespace: "default", Generation: 1}}
		stackstatus.RecordRun(stack, v1.RunStatus{ID: fmt.Sprintf("run-%02d", i), Operation: v1.OperationUpdate, Generation: 1, StartedAt: metav1.Time{Time: started}})
		objects = append(objects, stack)
		ended = append(ended, run.Ref{ID: stack.Status.Run.ID, Namespace: stack.Namespace, Name: stack.Name})
	}
	w := newWorld(t, objects...)
	for _, ref := range ended {
		w.runner.end(ref.ID, run.Succeeded, "")
	}
	// The first ones hang until the others are written.
	rest := make(chan struct{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var written atomic.Int64
	w.writing = func(name string) {
		if name < "app-07" {
			select {
			case <-rest:
			case <-ctx.Done():
				t.Error("the others wait for " + name)
			}
			return
		}
		if written.Add(1) == stacks-7 {
			close(rest)
		}
	}
	g.Expect(w.WriteAll(ctx, ended)).To(Succeed())
	g.Expect(w.runner.results).To(BeEmpty())
	left := &v1.StackList{}
	g.Expect(w.List(ctx, left)).To(Succeed())
	for _, stack := range left.Items {
		g.Expect(stack.Status.Run).To(BeNil(), stack.Name)
	}
}

func TestARunLeftInFlightIsInTheStatus(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	g.Expect(w.WriteAll(context.Background(), refTo(id))).To(Succeed())
	stack := w.stack()
	g.Expect(stack.Status.Run.ID).To(Equal(id), "the next one has to know of it")
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal(
		"The controller exited while run " + id + " (update) was in flight; the next controller recovers from it"))
	g.Expect(conditions.IsReconciling(stack)).To(BeTrue())

	before := w.writes
	g.Expect(w.WriteAll(context.Background(), refTo("another"))).To(Succeed())
	g.Expect(w.writes).To(Equal(before), "it is not the one that is recorded")
}

// The operator's update failed half-way, and left no commit and no digest.
func TestAStackThatTheOperatorRanIsDestroyed(t *testing.T) {
	g := NewWithT(t)
	objects := programAndStack()
	moved := objects[1].(*v1.Stack)
	moved.Finalizers = []string{v1.StackFinalizer}
	moved.Status.LastUpdate = &v1.LastUpdate{State: v1.UpdateFailed, Type: v1.UpdateTypeUp, LastResyncTime: &metav1.Time{Time: started}}
	w := newWorld(t, objects...)
	w.mustReconcile()
	w.endNow(run.ArtifactFailed, func(r *run.Result) { r.Project = run.Project{} })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	look := w.nextRun()
	g.Expect(look.Operation).To(Equal(run.Recover), "it is looked for")
	g.Expect(look.MustExist).To(BeTrue())
	w.endNow(run.Succeeded, func(r *run.Result) { r.Backend = "file:///state" })
	g.Expect(w.nextRun().Operation).To(Equal(run.Destroy))
}

func TestAStackWhoseRunsNeverReachedPulumiIsReleased(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	for range 2 {
		w.endNow(run.ArtifactFailed, func(r *run.Result) { r.Project = run.Project{} })
		w.passTime(time.Hour)
		w.mustReconcile()
	}
	w.endNow(run.ArtifactFailed, func(r *run.Result) { r.Project = run.Project{} })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue())
}
