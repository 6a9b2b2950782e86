// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
)

func TestDriftIsKeptWhileItLasts(t *testing.T) {
	g := NewWithT(t)
	p := planPublisher(t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", UID: "uid-of-app"}}
	read := func() (*corev1.ConfigMap, error) {
		kept := &corev1.ConfigMap{}
		return kept, p.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "app-drift"}, kept)
	}
	g.Expect(p.dropDrift(t.Context(), stack)).To(Succeed(), "there is none")

	found := planOf(100)
	name, digest, err := p.Drift(t.Context(), stack, found)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(name).To(Equal("app-drift"))
	first, err := read()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(metav1.IsControlledBy(first, stack)).To(BeTrue())
	g.Expect(inventory.Digest(first.BinaryData[inventory.PlanKey])).To(Equal(digest))
	g.Expect(inventory.DecodePlan(first.BinaryData[inventory.PlanKey])).To(HaveField("Steps", Equal(found.Steps)))

	_, same, err := p.Drift(t.Context(), stack, found)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(same).To(Equal(digest))
	g.Expect(read()).To(HaveField("ResourceVersion", first.ResourceVersion), "the same drift is not written again")

	_, other, err := p.Drift(t.Context(), stack, planOf(200))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other).NotTo(Equal(digest))

	g.Expect(p.dropDrift(t.Context(), stack)).To(Succeed())
	_, err = read()
	g.Expect(err).To(Satisfy(apierrors.IsNotFound))
}

func TestAConfigMapOfSomeoneElseIsNoDrift(t *testing.T) {
	g := NewWithT(t)
	p := planPublisher(t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app", UID: "uid-of-app"}}
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app-drift"}}
	g.Expect(p.Client.Create(t.Context(), theirs)).To(Succeed())
	_, _, err := p.Drift(t.Context(), stack, planOf(100))
	g.Expect(err).To(MatchError(ContainSubstring("does not belong to this Stack")))
	g.Expect(p.dropDrift(t.Context(), stack)).To(MatchError(ContainSubstring("does not belong to this Stack")))
	g.Expect(p.Client.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs)).To(Succeed())
}
