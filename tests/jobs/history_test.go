// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestARetainedHistoryOutlivesItsStack deletes two Stacks while the real garbage collector runs, which deletes what they own.
func TestARetainedHistoryOutlivesItsStack(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one"))
	kept := u.stack("kept", func(s *v1.Stack) {
		s.Spec.ProgramRef.Name, s.Spec.DestroyOnFinalize, s.Spec.History = "app", true, &v1.History{Retain: true}
	})
	u.awaitReady(kept, "one")
	gone := u.stack("gone", func(s *v1.Stack) { s.Spec.ProgramRef.Name = "app" })
	u.awaitReady(gone, "one")
	record := func(stack string) (*corev1.ConfigMap, error) {
		found := &corev1.ConfigMap{}
		return found, u.Get(u.ctx, client.ObjectKey{Namespace: u.namespace, Name: history.ConfigMap(stack)}, found)
	}

	for _, stack := range []*v1.Stack{kept, gone} {
		u.Eventually(func() error { _, err := record(stack.Name); return err }).Should(Succeed())
		u.Expect(u.Client().Delete(u.ctx, stack)).To(Succeed())
		u.Eventually(func() error { return u.Get(u.ctx, client.ObjectKeyFromObject(stack), stack) }).Should(Satisfy(apierrors.IsNotFound))
	}
	u.Eventually(func() error { _, err := record("gone"); return err }).Should(Satisfy(apierrors.IsNotFound), "it is collected")
	left, err := record("kept")
	u.Expect(err).NotTo(HaveOccurred())
	entries, known, err := history.Entries(left.BinaryData)
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(known).To(BeTrue())
	u.Expect(entries[0].Metadata).To(HaveKeyWithValue("operation", "destroy"), "the destroy is its last entry")
}
