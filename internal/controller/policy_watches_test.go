// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
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

func TestARelabelledStackIsReconciledIfPolicySetsCannotBeRead(t *testing.T) {
	g := NewWithT(t)
	r := &StackReconciler{Client: unlisted{}}
	r.policies = newPolicyWatches(nil, nil, r)
	r.policies.sets.started = true
	relabelled := r.relabelledPredicate()
	before, after := &v1.Stack{}, &v1.Stack{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
	g.Expect(relabelled.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(BeTrue())
	g.Expect(relabelled.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: before})).To(BeFalse())
}

// unlisted is a cache that does not have the objects yet.
type unlisted struct{ client.Client }

func (unlisted) List(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestPolicySetsThatTheStatusHasNoRoomForAreNamed(t *testing.T) {
	g := NewWithT(t)
	todo := run.Run{}
	for i := range v1.MaxPolicySets + 1 {
		set := fmt.Sprintf("set-%03d", i)
		todo.Policies = append(todo.Policies, run.PolicyPack{Set: set, Name: "a"}, run.PolicyPack{Set: set, Name: "b"})
	}
	recorded, err := policiesOf(&observe.Observation{}, todo, launch{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(recorded.Sets).To(HaveLen(v1.MaxPolicySets))
	g.Expect(setsLeftOut(todo, recorded)).To(Equal([]string{"set-064"}))
	g.Expect(setsLeftOut(run.Run{}, nil)).To(BeEmpty())
}
