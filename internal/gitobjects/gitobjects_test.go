// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitobjects

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
)

func TestErrorsContainNoCredentials(t *testing.T) {
	g := NewWithT(t)
	g.Expect(credentialsIn(map[string][]byte{"username": []byte("git"), "password": []byte("old")}, map[string][]byte{"password": []byte("new")})).
		To(ConsistOf("old", "new"))
	g.Expect(credentialsIn(map[string][]byte{"username": []byte("token"), "password": nil})).To(ContainElement("token"))
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "default", UID: "1"}}
	for name, before := range map[string]*corev1.Secret{
		"created": nil,
		"changed": {ObjectMeta: metav1.ObjectMeta{Name: "app-git-auth", Namespace: "default"}, Data: map[string][]byte{"password": []byte("canary-old")}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			no := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "app", errors.New("canary-old canary-new"))
			scheme := runtime.NewScheme()
			g.Expect(v1.AddToScheme(scheme)).To(Succeed())
			g.Expect(corev1.AddToScheme(scheme)).To(Succeed())
			api := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return no },
				Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
					return no
				},
			}).Build()
			wanted := gitsource.Wanted{Data: map[string][]byte{"username": []byte("git"), "password": []byte("canary-new")}}
			due := gitsource.Plan(stack, wanted, nil, before, time.Now())
			_, err := Keeper{Client: api, APIReader: api, Owner: "test", Now: time.Now}.Do(t.Context(), stack, due)
			g.Expect(err).To(MatchError(Not(ContainSubstring("canary-new"))))
			if before != nil {
				g.Expect(err).To(MatchError(ContainSubstring("*** ***")))
			}
		})
	}
}
