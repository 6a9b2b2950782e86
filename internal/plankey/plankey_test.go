// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plankey

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func newKeys() Keys {
	api := fake.NewClientBuilder().Build()
	return Keys{Client: api, Reader: api, Owner: "test", Namespace: "flux-system"}
}

// of is the key of a stack.
func (k Keys) of(t *testing.T, namespace, stack string) string {
	t.Helper()
	key, err := k.Of(t.Context(), namespace, stack)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return key
}

// A key that is made of what every reader of a Stack knows lets them guess a weak secret.
func TestTheKeyOfPlansIsRandomAndKept(t *testing.T) {
	g := NewWithT(t)
	keys := newKeys()
	first := keys.of(t, "apps", "dev")
	g.Expect(newKeys().of(t, "apps", "dev")).NotTo(Equal(first), "another controller")

	secret := &corev1.Secret{}
	g.Expect(keys.Client.Get(t.Context(), client.ObjectKey{Namespace: "flux-system", Name: "pulumi-controller-plan-key"}, secret)).To(Succeed())
	g.Expect(secret.Immutable).To(HaveValue(BeTrue()))

	g.Expect(keys.of(t, "apps", "dev")).To(Equal(first), "it is read again")
	g.Expect(keys.of(t, "other", "dev")).NotTo(Equal(first), "another namespace")
	g.Expect(keys.of(t, "apps", "production")).NotTo(Equal(first), "another stack")

	g.Expect(keys.Client.Delete(t.Context(), secret)).To(Succeed())
	g.Expect(keys.of(t, "apps", "dev")).NotTo(Equal(first), "it was lost")

	keys.Namespace = ""
	g.Expect(keys.of(t, "apps", "dev")).To(Equal(keys.of(t, "apps", "dev")), "outside of a cluster")
}

// lateReader does not find the first object that it reads.
type lateReader struct {
	client.Reader
	reads int
}

func (r *lateReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if r.reads++; r.reads == 1 {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}
	return r.Reader.Get(ctx, key, o, opts...)
}

func TestTheKeyOfPlansOfAnotherShardIsTaken(t *testing.T) {
	keys := newKeys()
	first := keys.of(t, "apps", "dev")
	keys.Reader = &lateReader{Reader: keys.Reader}
	NewWithT(t).Expect(keys.of(t, "apps", "dev")).To(Equal(first))
}
