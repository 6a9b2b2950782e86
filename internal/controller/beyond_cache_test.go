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
)

// The controller here has shard one. The Stacks of shard two have no controller, so the
// test writes what theirs would write.
func TestOrderAcrossShards(t *testing.T) {
	t.Parallel()
	cluster := shardCluster(t, "one", func(r *StackReconciler) { r.PartialCache, r.RequeueDependency = true, 200*time.Millisecond })
	for name, test := range map[string]func(*testing.T, *orderedTenant){
		"a Stack is not destroyed under a dependent of another shard": testDependentOfAnotherShard,
		"a dependency of another shard is looked at again soon":       testDependencyOfAnotherShard,
		"a circle is opened in another shard":                         testCircleAcrossShards,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, cluster.tenant(t))
		})
	}
}

func testDependentOfAnotherShard(_ *testing.T, u *orderedTenant) {
	u.createStack("a", inShard("one"))
	u.createStack("b", inShard("two"), dependsOn("a"))
	u.awaitReady("a")
	u.Expect(u.Delete(u.ctx, u.stack("a"))).To(Succeed())
	u.Eventually(func() string { return readyMessage(u.stack("a")) }).Should(
		Equal("Waiting for Stack " + u.namespace + "/b, which depends on this Stack, to be deleted"))
	u.Expect(u.Delete(u.ctx, u.stack("b"))).To(Succeed())
	u.awaitGone("a")
	u.Expect(u.runs()).To(Equal([]string{"update a", "destroy a"}))
}

func testDependencyOfAnotherShard(_ *testing.T, u *orderedTenant) {
	u.createStack("b", inShard("one"), dependsOn("a"))
	u.awaitWaiting("b", "/a not found")
	u.createStack("a", inShard("two"))
	u.awaitWaiting("b", "/a is not ready")
	stack := u.stack("a")
	stack.Status.ObservedGeneration, stack.Status.LastAppliedRevision = stack.Generation, "1@sha256:other"
	conditions.MarkTrue(stack, meta.ReadyCondition, meta.ReconciliationSucceededReason, "ok")
	u.Expect(u.Status().Update(u.ctx, stack)).To(Succeed())
	u.awaitWaiting("b", "/a has not applied revision")
	u.edit("a", func(s *v1.Stack) { s.Spec.ProgramRef.Name = "another" })
	stack = u.stack("a")
	stack.Status.ObservedGeneration = stack.Generation
	u.Expect(u.Status().Update(u.ctx, stack)).To(Succeed())
	u.awaitReady("b")
}

func testCircleAcrossShards(_ *testing.T, u *orderedTenant) {
	u.createStack("a", inShard("two"), dependsOn("b"))
	u.createStack("b", inShard("one"), dependsOn("a"))
	u.awaitStalled("cycle", "b")
	u.edit("a", dependsOn())
	u.awaitWaiting("b", "/a is not ready")
}

func TestOnlyStacksThatAreNotCachedArePolled(t *testing.T) {
	for _, test := range []struct {
		name    string
		partial bool
		stacks  []*v1.Stack
		want    time.Duration
	}{
		{"all are watched", false, nil, time.Minute},
		{"the dependency is watched", true, []*v1.Stack{stackOf("a")}, time.Minute},
		{"it is not", true, nil, 30 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			w := newOrderedWorld(t, append(test.stacks, stackOf("b", dependsOn("a")))...)
			w.PartialCache, w.RequeueDependency = test.partial, 30*time.Second
			g.Expect(w.reconcileOf("b").RequeueAfter).To(Equal(test.want))
		})
	}
}
