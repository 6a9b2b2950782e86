// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestResultIsKeptUntilWhatItDependsOnChanges(t *testing.T) {
	key := types.NamespacedName{Namespace: "a", Name: "token"}
	secret := func(uid types.UID) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: uid}, Data: map[string][]byte{"a": []byte("1")}}
	}
	for name, test := range map[string]struct {
		state  string
		change func(g Gomega, api client.Client)
		want   bool
	}{
		"nothing":            {state: "1", change: func(Gomega, client.Client) {}, want: true},
		"another generation": {state: "2", change: func(Gomega, client.Client) {}},
		"another value": {state: "1", change: func(g Gomega, api client.Client) {
			changed := secret("1")
			g.Expect(api.Get(t.Context(), key, changed)).To(Succeed())
			changed.Data["a"] = []byte("2")
			g.Expect(api.Update(t.Context(), changed)).To(Succeed())
		}},
		"another object of that name": {state: "1", change: func(g Gomega, api client.Client) {
			g.Expect(api.Delete(t.Context(), secret("1"))).To(Succeed())
			g.Expect(api.Create(t.Context(), secret("2"))).To(Succeed())
		}},
		"no object of that name": {state: "1", change: func(g Gomega, api client.Client) {
			g.Expect(api.Delete(t.Context(), secret("1"))).To(Succeed())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			api := fake.NewClientBuilder().WithObjects(secret("1")).Build()
			cache := NewResultCache(api)
			basis := func(state string) Basis { return cache.Basis(t.Context(), []types.NamespacedName{key}, nil, state) }
			cache.Keep("uid", "inputs", basis("1"), Result{Digest: "sha256:1"})
			test.change(g, api)
			found, ok := cache.Get("uid", "inputs", basis(test.state))
			g.Expect(ok).To(Equal(test.want))
			if ok {
				g.Expect(found.Digest).To(Equal("sha256:1"))
			}
			_, ok = cache.Get("another", "inputs", basis(test.state))
			g.Expect(ok).To(BeFalse(), "it is of another Stack")
		})
	}
}

// TestObjectThatTheWatchLacksIsRead is about an object that was created and deleted before
// the watch delivered it: nothing would tell that the result of reading it no longer holds.
func TestObjectThatTheWatchLacksIsRead(t *testing.T) {
	g := NewWithT(t)
	cache := NewResultCache(fake.NewClientBuilder().Build())
	basis := cache.Basis(t.Context(), []types.NamespacedName{{Namespace: "a", Name: "token"}}, nil)
	cache.Keep("uid", "inputs", basis, Result{Digest: "sha256:1"})
	_, ok := cache.Get("uid", "inputs", basis)
	g.Expect(ok).To(BeFalse())
}

func TestResultCacheIsBounded(t *testing.T) {
	g := NewWithT(t)
	cache := NewResultCache(fake.NewClientBuilder().Build())
	basis := cache.Basis(t.Context(), nil, nil, "1")
	for i := range maxResults + 10 {
		cache.Keep(types.UID(fmt.Sprint(i)), "inputs", basis, Result{})
	}
	g.Expect(cache.results.Len()).To(Equal(maxResults))
	_, ok := cache.Get("5", "inputs", basis)
	g.Expect(ok).To(BeFalse(), "it has not been asked for in the longest time")
}

func TestNilResultCacheKeepsNothing(t *testing.T) {
	g := NewWithT(t)
	var cache *ResultCache
	basis := cache.Basis(t.Context(), nil, nil, "1")
	cache.Keep("uid", "inputs", basis, Result{})
	_, ok := cache.Get("uid", "inputs", basis)
	g.Expect(ok).To(BeFalse())
	cache.Drop("uid", "inputs")
}
