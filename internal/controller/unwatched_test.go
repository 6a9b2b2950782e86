// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// otherShard is a cache without the Stack, whose labels assign it to another controller.
type otherShard struct{ client.Client }

func (c otherShard) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if _, ok := object.(*v1.Stack); ok {
		return apierrors.NewNotFound(schema.GroupResource{Group: v1.GroupVersion.Group, Resource: "stacks"}, key.Name)
	}
	return c.Client.Get(ctx, key, object, opts...)
}

// relabelled is a world whose Stack was assigned to another controller while its update
// is in flight. all reads from the API server.
func relabelled(t *testing.T) (w *world, all client.Client, id string) {
	w = newWorld(t, programAndStack()...)
	w.mustReconcile()
	all, id = w.Client, w.stack().Status.Run.ID
	w.Client = otherShard{all}
	return w, all, id
}

func TestTheResultOfARelabelledStackIsNotLost(t *testing.T) {
	g := NewWithT(t)
	w, all, id := relabelled(t)
	w.mustReconcile()
	g.Expect(w.runner.runs).To(HaveKey(id), "it continues")
	g.Expect(w.writes).To(Equal(2), "there is nothing to write yet")

	w.runner.end(id, run.Failed, "the provider died")
	w.runner.results[id].UnknownCreates = []string{"urn:a"}
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "stacks"}, "app", errors.New("changed"))
	w.failWrite = func(n int) error {
		if n == 3 {
			return conflict // the other controller writes that it waits
		}
		return nil
	}
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(watches.ConflictRetry))
	w.mustReconcile()
	w.Client = all
	g.Expect(w.stack().Status.Run).To(BeNil(), "the other controller can continue")
	g.Expect(w.stack().Status.UnknownCreates).To(ConsistOf("urn:a"))
	g.Expect(w.runner.results).To(BeEmpty(), "it is forgotten here")

	w.Client = otherShard{all}
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1), "no new run is started here")
}

func TestARelabelledStackIsLeftToItsHolder(t *testing.T) {
	g := NewWithT(t)
	w, all, id := relabelled(t)
	w.runner.end(id, run.Succeeded, "")
	w.Holder = v1.RunHolder{Host: "pod-2", Instance: "b"}
	w.mustReconcile()
	w.Client = all
	g.Expect(w.stack().Status.Run).To(HaveField("ID", id))
}

func TestARunThatNeverStartedIsWithdrawnFromARelabelledStack(t *testing.T) {
	g := NewWithT(t)
	w, all, id := relabelled(t)
	g.Expect(w.runner.Forget(run.Ref{ID: id})).To(Succeed())
	w.mustReconcile()
	w.Client = all
	g.Expect(w.stack().Status.Run).To(BeNil(), "nobody waits for it")
}

func TestWhatIsKeptOfADeletedStackIsDropped(t *testing.T) {
	g := NewWithT(t)
	w, all, id := relabelled(t)
	w.runner.end(id, run.Succeeded, "")
	w.Client = all
	w.edit(func(s *v1.Stack) { s.Finalizers = nil })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.runner.results).To(BeEmpty())
}
