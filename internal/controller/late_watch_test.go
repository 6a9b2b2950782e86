// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// listing answers each List with an error, or without one.
type listing struct {
	client.Reader
	err   error
	lists int
}

func (l *listing) List(context.Context, client.ObjectList, ...client.ListOption) error {
	l.lists++
	return l.err
}

func TestAKindIsWatchedOnceItIsServed(t *testing.T) {
	g := NewWithT(t)
	now, watches := started, 0
	api := &listing{err: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "pulumi.com", Kind: "PolicySet"}}}
	w := &lateWatch{reader: api, list: &v1.PolicySetList{}, now: func() time.Time { return now }, start: func() error { watches++; return nil }}
	for range 10 {
		g.Expect(w.ensure(t.Context())).To(BeFalse())
	}
	g.Expect(api.lists).To(Equal(1), "a cluster without the kind is not asked for each Stack")
	now = now.Add(lookAgain)
	g.Expect(w.ensure(t.Context())).To(BeFalse())
	g.Expect(api.lists).To(Equal(2))

	api.err = errors.New("policysets.pulumi.com is forbidden")
	now = now.Add(lookAgain)
	for range 2 {
		watched, err := w.ensure(t.Context())
		g.Expect(err).To(MatchError(ContainSubstring("is forbidden")))
		g.Expect(watched).To(BeFalse(), "the cache would wait for a list without end")
	}
	g.Expect(watches).To(BeZero())

	api.err = nil
	for range 10 {
		g.Expect(w.ensure(t.Context())).To(BeTrue())
	}
	g.Expect(watches).To(Equal(1))
	g.Expect(api.lists).To(Equal(5))
	g.Expect(w.Start(t.Context())).To(Succeed(), "there is nothing more to wait for")
}
