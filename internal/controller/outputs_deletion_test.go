// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// These tests have no garbage collector.

func TestTheSecretGoesWithTheStack(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.operation()).To(Equal(run.Destroy))
	g.Expect(w.secret("out")).NotTo(BeNil(), "it is there until the stack is destroyed")
	w.endNow(run.Failed, nil)
	g.Expect(w.secret("out")).NotTo(BeNil())
	w.passTime(w.stack().GetRetryInterval())
	w.mustReconcile()
	w.endNow(run.Succeeded, nil)
	w.mustReconcile()
	g.Expect(w.secret("out")).To(BeNil())
	g.Expect(w.deleted()).To(BeTrue())
}

func TestTheSecretGoesWithAStackThatIsNotDestroyed(t *testing.T) {
	for name, change := range map[string]func(*v1.StackSpec){
		"not asked to":           func(s *v1.StackSpec) { s.DestroyOnFinalize = false },
		"suspended":              func(s *v1.StackSpec) { s.Suspend = true },
		"under its former name":  func(s *v1.StackSpec) { s.Suspend, s.WriteOutputsToSecret.Name = true, "other" },
		"with no field any more": func(s *v1.StackSpec) { s.Suspend, s.WriteOutputsToSecret = true, nil },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := written(t)
			w.change(change)
			g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
			w.mustReconcile()
			g.Expect(w.secret("out")).To(BeNil())
			g.Expect(w.deleted()).To(BeTrue())
		})
	}
}

func TestAForeignSecretOutlivesTheStack(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	w.editSecret(func(s *corev1.Secret) { s.OwnerReferences = nil })
	w.change(func(s *v1.StackSpec) { s.DestroyOnFinalize = false })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.secret("out")).NotTo(BeNil())
	g.Expect(w.deleted()).To(BeTrue())
}

func TestASecretThatCannotBeDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		gone bool
	}{
		"for now":           {errors.New("connection refused"), false},
		"by the controller": {apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "out", errors.New("not yours")), true},
		"for a policy":      {apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "out", errors.New("aHVudGVyMg== is kept")), true},
		"as it is invalid":  {apierrors.NewBadRequest("hunter2 is kept"), true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := written(t)
			w.change(func(s *v1.StackSpec) { s.DestroyOnFinalize = false })
			g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
			w.Client = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
				Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return test.err },
			})
			_, err := w.reconcile()
			if test.gone {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(test.err))
			}
			g.Expect(w.deleted()).To(Equal(test.gone))
			if test.gone {
				g.Expect(w.events.lines).To(ContainElement(And(HavePrefix("Warning OutputsFailed"), ContainSubstring("delete it by hand"))))
			}
			g.Expect(w.events.lines).NotTo(ContainElement(Or(ContainSubstring("hunter2"), ContainSubstring("aHVudGVyMg"))))
		})
	}
}

// A policy that keeps the Secret does not block the Stack.
func TestASecretThatMayNotBeDeletedDoesNotBlockTheStack(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	w.change(func(s *v1.StackSpec) { s.WriteOutputsToSecret = nil })
	w.Client = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "out", errors.New("hunter2 is kept"))
		},
	})
	w.mustReconcile()
	g.Expect(w.secret("out")).NotTo(BeNil())
	g.Expect(w.stack().Status.OutputsSecret).To(BeNil())
	g.Expect(w.events.lines).To(ContainElement(And(HavePrefix("Warning OutputsFailed"), ContainSubstring("*** is kept"))))
}
