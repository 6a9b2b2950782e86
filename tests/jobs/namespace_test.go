// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestStacksInANamespaceThatIsBeingDeleted plays the namespace controller, which deletes the contents.
func TestStacksInANamespaceThatIsBeingDeleted(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one"))
	stack := u.stack("app", func(s *v1.Stack) { s.Spec.DestroyOnFinalize = true })
	u.awaitReady(stack, "one")
	u.program("left", thing("one", "hold: create"))
	left := u.stack("left", func(s *v1.Stack) { s.Spec.Stack = "left" })
	u.await(left, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(ContainSubstring("1 in progress"))
	})
	u.Expect(u.Client().Delete(u.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}})).To(Succeed())
	u.killPod(left)
	u.await(left, func(g Gomega, s *v1.Stack) {
		g.Expect(s.Status.Interrupted).NotTo(BeEmpty())
		g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(ContainSubstring("namespace " + u.namespace + " is being deleted, so no Job can be created in it"))
	})
	u.Expect(u.Client().Delete(u.ctx, left)).To(Succeed())
	u.Eventually(func() error { return u.Get(u.ctx, client.ObjectKeyFromObject(left), left) }).Should(MatchError(ContainSubstring("not found")))

	u.Expect(u.Client().Delete(u.ctx, stack)).To(Succeed())
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetReason(s, meta.StalledCondition)).To(Equal(v1.DestroyFailedReason))
		g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(ContainSubstring("no Job can destroy the stack"))
	})
	u.Expect(stack.Finalizers).To(ContainElement(v1.StackFinalizer))
	edit(u, stack, func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false })
	u.Eventually(func() error { return u.Get(u.ctx, client.ObjectKeyFromObject(stack), stack) }).Should(MatchError(ContainSubstring("not found")))
	u.Expect(u.count("delete", "begin")).To(BeZero())
	u.Expect(u.cloud.Release()).To(Succeed())
}
