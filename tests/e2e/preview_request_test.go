// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// awaitPreview requests a preview and waits for its end.
func (t *tenant) awaitPreview(stack *v1.Stack, request string) *v1.PreviewStatus {
	t.test.Helper()
	t.annotate(stack, v1.PreviewRequestAnnotation, request)
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Preview).NotTo(BeNil())
		g.Expect(stack.Status.Preview.Request).To(Equal(request))
		g.Expect(stack.Status.Preview.EndedAt).NotTo(BeNil())
	}).Should(Succeed())
	return stack.Status.Preview
}

func TestAPreviewOnRequestChangesNothing(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitReady(stack)

	reported := u.awaitPreview(stack, "one")
	u.Expect(reported.State).To(Equal(v1.UpdateSucceeded), reported.Message)
	u.Expect(reported.ResourceChanges).To(Equal(v1.ResourceChanges{Same: 1}))

	// With spec.refresh, a preview also shows drift.
	edit(u, stack, func(s *v1.Stack) { s.Spec.Refresh = true })
	u.awaitReady(stack)
	before := stack.DeepCopy()
	journal := u.journal(u)
	thing, err := u.cloud.Things()
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(u.cloud.Remove(thing[0].ID)).To(Succeed())
	reported = u.awaitPreview(stack, "two")
	u.Expect(reported.State).To(Equal(v1.UpdateSucceeded), reported.Message)
	u.Expect(reported.Created).To(BeEquivalentTo(1))
	kept := &corev1.ConfigMap{}
	u.Expect(u.Get(u.ctx, types.NamespacedName{Namespace: u.namespace, Name: reported.ConfigMap}, kept)).To(Succeed())
	made, err := inventory.DecodePlan(kept.BinaryData[inventory.PlanKey])
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(made.Steps).To(HaveLen(1))
	u.Expect(made.Steps[0].Op).To(Equal("create"))

	u.Expect(stack.Status.Conditions).To(Equal(before.Status.Conditions))
	u.Expect(stack.Status.LastUpdate).To(Equal(before.Status.LastUpdate))
	u.Expect(stack.Status.History).To(Equal(before.Status.History))
	u.Expect(u.things()).To(BeEmpty())
	u.Expect(u.journal(u)[len(journal):]).To(HaveEach(HavePrefix("read ")))
}
