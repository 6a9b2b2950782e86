// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestPolicySetsThatMayNotBeListed(t *testing.T) {
	g := NewWithT(t)
	now, logged := started, []string{}
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { logged = append(logged, line) }, funcr.Options{}))
	api := &listing{err: apierrors.NewForbidden(v1.GroupVersion.WithResource("policysets").GroupResource(), "", nil)}
	r := &StackReconciler{APIReader: api, OneNamespace: true, Now: func() time.Time { return now }}
	w := newPolicyWatches(nil, nil, r)
	for range 3 {
		g.Expect(w.ensureSets(ctx)).To(BeFalse())
		g.Expect(w.ensureSets(ctx)).To(BeFalse())
		now = now.Add(lookAgainAfter)
	}
	g.Expect(api.lists).To(Equal(3))
	g.Expect(logged).To(ConsistOf(And(ContainSubstring("PolicySets are not applied"), ContainSubstring("forbidden"))), "once")

	r.OneNamespace = false
	_, err := w.ensureSets(ctx)
	g.Expect(err).To(MatchError(ContainSubstring("it is not known which policies guard the Stack")))
}

func TestPolicySetsThatAreServedLater(t *testing.T) {
	g := NewWithT(t)
	now := started
	api := &listing{err: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "pulumi.com", Kind: "PolicySet"}}}
	w := newPolicyWatches(nil, nil, &StackReconciler{APIReader: api, Now: func() time.Time { return now }})
	for range 3 {
		g.Expect(w.ensureSets(t.Context())).To(BeFalse())
		g.Expect(w.ensureSets(t.Context())).To(BeFalse())
		now = now.Add(5 * time.Second)
	}
	g.Expect(api.lists).To(Equal(3), "a Stack is unguarded for seconds at most, and the API server is not asked for each")
}
