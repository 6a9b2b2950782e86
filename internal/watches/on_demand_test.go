// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// listing answers each List with an error, or without one.
// noon is the time of the tests.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type listing struct {
	client.Reader
	mu    sync.Mutex
	err   error
	lists int
}

func (l *listing) List(context.Context, client.ObjectList, ...client.ListOption) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lists++
	return l.err
}

// answer has each List from now on answer with the error.
func (l *listing) answer(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// asked returns how many Lists there were.
func (l *listing) asked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists
}

// watch returns a watch of PolicySets by this API server, and counts how often it is started.
func (l *listing) watch(now func() time.Time) (watch *OnDemand, starts *int) {
	starts = new(int)
	return NewOnDemand(l, &v1.PolicySetList{}, now, func() error { *starts++; return nil }), starts
}

func unservedSets() error {
	return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "pulumi.com", Kind: "PolicySet"}}
}

func forbiddenSets() error {
	return apierrors.NewForbidden(v1.GroupVersion.WithResource("policysets").GroupResource(), "", nil)
}

func TestAKindIsWatchedOnceItCanBeListed(t *testing.T) {
	for name, tt := range map[string]struct {
		err      error
		patience time.Duration // for which the API server is not asked again
	}{
		"not served":    {unservedSets(), 5 * time.Second},
		"not found":     {apierrors.NewNotFound(v1.GroupVersion.WithResource("policysets").GroupResource(), ""), 5 * time.Second},
		"forbidden":     {forbiddenSets(), time.Minute},
		"another error": {errors.New("connection refused"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			now, api := noon, &listing{err: tt.err}
			w, starts := api.watch(func() time.Time { return now })
			try := func(lists int) {
				for range 3 {
					g.ExpectWithOffset(1, w.Ensure(t.Context())).To(MatchError(tt.err))
					if tt.patience == 0 {
						lists++
					}
				}
				g.ExpectWithOffset(1, api.asked()).To(Equal(lists))
			}
			try(min(1, int(tt.patience)))
			g.Expect(w.IsStarted()).To(BeFalse())
			if tt.patience > 0 {
				now = now.Add(tt.patience - 1)
				try(1)
				now = now.Add(1)
				try(2)
				now = now.Add(-time.Hour)
				try(3) // a clock that was set back makes nothing known for an hour
				now = now.Add(tt.patience)
			}
			g.Expect(*starts).To(BeZero())

			asked := api.asked()
			api.answer(nil)
			for range 3 {
				g.Expect(w.Ensure(t.Context())).To(Succeed())
			}
			g.Expect(w.IsStarted()).To(BeTrue())
			g.Expect(*starts).To(Equal(1))
			g.Expect(api.asked()).To(Equal(asked + 1))
		})
	}
}

func TestAWatchThatCannotBeStartedIsTriedAgain(t *testing.T) {
	g := NewWithT(t)
	w, _ := (&listing{}).watch(func() time.Time { return noon })
	failure := errors.New("no")
	w.start = func() error { return failure }
	for range 2 {
		g.Expect(w.Ensure(t.Context())).To(MatchError(failure))
		g.Expect(w.IsStarted()).To(BeFalse())
	}
	failure = nil
	w.start = func() error { return nil }
	g.Expect(w.Ensure(t.Context())).To(Succeed())
	g.Expect(w.IsStarted()).To(BeTrue())
}
