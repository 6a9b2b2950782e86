// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tests/e2e tests what flux-operator does with pull requests. Here, it only has to start,
// and to make what a template has.
func resourceSetsAreApplied(t *testing.T, plane *ControlPlane) {
	g, ctx := NewWithT(t), context.WithoutCancel(t.Context())
	kube, err := client.New(plane.RESTConfig(), client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	err = kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "flux-system"}})
	g.Expect(err).To(Or(Not(HaveOccurred()), Satisfy(apierrors.IsAlreadyExists)))
	begin := time.Now()
	operator, err := StartFluxOperator(ctx, plane, FluxOperatorOptions{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("flux-operator ready after %s", time.Since(begin).Round(time.Millisecond))
	t.Cleanup(func() { g.Expect(operator.Stop()).To(Succeed()) })

	create(ctx, g, kube, "fluxcd.controlplane.io/v1", "ResourceSet", map[string]any{
		"inputs": []any{map[string]any{"id": "7"}},
		"resources": []any{map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "made-<< inputs.id >>", "namespace": "default"},
		}},
	})
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made-7", Namespace: "default"}}
	g.Eventually(func() error {
		return kube.Get(ctx, client.ObjectKeyFromObject(made), made)
	}, startTimeout, 20*time.Millisecond).Should(Succeed())
}
