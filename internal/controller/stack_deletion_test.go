// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestDeletion(t *testing.T) {
	ctx := context.Background()
	deleted := func(w *world) error { return w.Delete(ctx, w.stack()) }
	ready := func(t *testing.T) *world {
		w := newWorld(t, programAndStack()...)
		w.mustReconcile()
		w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
		w.mustReconcile()
		return w
	}
	gone := func(w *world) bool { return apierrors.IsNotFound(w.Get(ctx, key, &v1.Stack{})) }

	t.Run("destroys, then releases, even if the program is gone", func(t *testing.T) {
		g := NewWithT(t)
		w := ready(t)
		g.Expect(w.Delete(ctx, &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}})).To(Succeed())
		g.Expect(deleted(w)).To(Succeed())
		w.mustReconcile()
		record := w.stack().Status.Run
		g.Expect(record.Operation).To(Equal(v1.OperationDestroy))
		g.Expect(w.runner.runs[record.ID].Project.Name).To(Equal("app"))
		w.mustReconcile()
		g.Expect(gone(w)).To(BeFalse())
		w.runner.end(record.ID, run.Succeeded, "")
		w.mustReconcile()
		w.mustReconcile()
		g.Expect(gone(w)).To(BeTrue())
	})
	t.Run("destroys a stalled Stack if a destroy does not need what is wrong", func(t *testing.T) {
		g := NewWithT(t)
		w := ready(t)
		w.edit(func(s *v1.Stack) { s.Spec.DependsOn = []v1.DependencyReference{{Name: s.Name}} })
		w.mustReconcile()
		g.Expect(conditions.GetReason(w.stack(), meta.StalledCondition)).To(Equal(v1.InvalidSpecReason))
		g.Expect(deleted(w)).To(Succeed())
		w.mustReconcile()
		g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationDestroy))
	})
	t.Run("keeps a stalled Stack if a destroy needs what is wrong, too", func(t *testing.T) {
		g := NewWithT(t)
		w := ready(t)
		w.edit(func(s *v1.Stack) {
			s.Spec.EnvRefs = map[string]v1.ResourceRef{"HOME": {Type: v1.ResourceRefLiteral, Literal: &v1.LiteralValue{Value: "/"}}}
		})
		g.Expect(deleted(w)).To(Succeed())
		w.mustReconcile()
		g.Expect(conditions.GetReason(w.stack(), meta.StalledCondition)).To(Equal(v1.InvalidSpecReason))
		w.edit(func(s *v1.Stack) { s.Spec.EnvRefs = nil })
		w.mustReconcile()
		g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationDestroy))
	})
	t.Run("keeps the object when the destroy fails, and says why", func(t *testing.T) {
		g := NewWithT(t)
		w := ready(t)
		g.Expect(deleted(w)).To(Succeed())
		w.mustReconcile()
		w.runner.end(w.stack().Status.Run.ID, run.Failed, "bucket not empty")
		w.mustReconcile()
		g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.DestroyFailedReason))
		g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(Equal("bucket not empty"))
		g.Expect(w.mustReconcile().RequeueAfter).To(BeNumerically(">", 0))
		g.Expect(gone(w)).To(BeFalse())
	})
	t.Run("keeps the object when a Secret that the destroy needs is gone", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, append(programAndStack(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cloud"}, Data: map[string][]byte{"key": []byte("value")},
		})...)
		w.edit(func(s *v1.Stack) {
			s.Spec.EnvRefs = map[string]v1.ResourceRef{"CLOUD": {
				Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "cloud", Key: "key"},
			}}
		})
		w.mustReconcile()
		w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
		w.mustReconcile()
		g.Expect(w.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cloud"}})).To(Succeed())
		g.Expect(deleted(w)).To(Succeed())
		w.mustReconcile()
		g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.InputsFailedReason))
		g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(ContainSubstring("default/cloud"))
	})
	t.Run("retries a failed destroy when its Secret is fixed", func(t *testing.T) {
		g := NewWithT(t)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cloud"}, Data: map[string][]byte{"key": []byte("expired")}}
		w := newWorld(t, append(programAndStack(), secret)...)
		w.edit(func(s *v1.Stack) {
			s.Spec.EnvRefs = map[string]v1.ResourceRef{"CLOUD": {
				Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "cloud", Key: "key"},
			}}
		})
		w.mustReconcile()
		w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
		w.mustReconcile()
		g.Expect(deleted(w)).To(Succeed())
		w.mustReconcile()
		w.runner.end(w.stack().Status.Run.ID, run.Failed, "token has expired")
		w.mustReconcile()
		w.mustReconcile()
		g.Expect(w.stack().Status.Run).To(BeNil(), "the same again waits")
		secret.Data["key"] = []byte("fresh")
		g.Expect(w.Update(ctx, secret)).To(Succeed())
		w.mustReconcile()
		g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationDestroy))
	})
	t.Run("does not destroy while suspended, and warns", func(t *testing.T) {
		g := NewWithT(t)
		w := ready(t)
		w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
		g.Expect(deleted(w)).To(Succeed())
		w.mustReconcile()
		g.Expect(gone(w)).To(BeTrue())
		g.Expect(w.runner.started).To(Equal(1))
		g.Expect(w.events.lines).To(ContainElement("Warning Suspended The Stack was deleted while suspended: stack dev was not destroyed"))
	})
	for name, release := range map[string]func(*v1.Stack){
		"suspended": func(s *v1.Stack) { s.Spec.Suspend = true },
		"previewed": func(s *v1.Stack) { s.Spec.Preview = true },
		"neither":   func(*v1.Stack) {},
	} {
		t.Run("warns of nothing after a destroy, during which it was "+name, func(t *testing.T) {
			g := NewWithT(t)
			w := ready(t)
			g.Expect(deleted(w)).To(Succeed())
			w.mustReconcile()
			destroy := w.stack().Status.Run
			g.Expect(destroy.Operation).To(Equal(v1.OperationDestroy))
			w.edit(release)
			w.mustReconcile()
			w.runner.end(destroy.ID, run.Succeeded, "")
			w.mustReconcile()
			w.mustReconcile()
			g.Expect(gone(w)).To(BeTrue())
			g.Expect(w.events.lines).NotTo(ContainElement(ContainSubstring("Warning")))
		})
	}
	t.Run("waits for a run in flight", func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, programAndStack()...)
		w.mustReconcile()
		g.Expect(deleted(w)).To(Succeed())
		w.mustReconcile()
		g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationUpdate))
		w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
		w.mustReconcile()
		w.mustReconcile()
		g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationDestroy))
	})
	t.Run("destroys nothing unless asked to", func(t *testing.T) {
		g := NewWithT(t)
		w := ready(t)
		w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false })
		g.Expect(deleted(w)).To(Succeed())
		w.mustReconcile()
		g.Expect(gone(w)).To(BeTrue())
		g.Expect(w.runner.started).To(Equal(1))
	})
}
