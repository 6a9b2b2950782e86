// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// tests/bootstrap tests what Flux does with Stacks. Here, kustomize-controller only has
// to start, and to apply what source-controller serves.
func kustomizationsAreApplied(t *testing.T, plane *ControlPlane) {
	g, ctx := NewWithT(t), context.WithoutCancel(t.Context())
	source, err := StartSourceController(ctx, plane, SourceControllerOptions{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(source.Stop()).To(Succeed()) })
	begin := time.Now()
	controller, err := StartKustomizeController(ctx, plane, KustomizeControllerOptions{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("kustomize-controller ready after %s", time.Since(begin).Round(time.Millisecond))
	t.Cleanup(func() { g.Expect(controller.Stop()).To(Succeed()) })

	server, err := sources.NewGitServer(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(server.Close()).To(Succeed()) }()
	repo, err := server.NewRepo(ctx, "fleet")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(ctx, sources.Files{"app.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: app, namespace: default}}"}, "first")
	g.Expect(err).NotTo(HaveOccurred())
	kube, err := client.New(plane.RESTConfig(), client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	create(ctx, g, kube, "source.toolkit.fluxcd.io/v1", "GitRepository", map[string]any{
		"url": repo.URL(), "interval": "1h", "ref": map[string]any{"branch": sources.Branch},
	})
	create(ctx, g, kube, "kustomize.toolkit.fluxcd.io/v1", "Kustomization", map[string]any{
		"path": "./", "interval": "1h", "prune": true, "sourceRef": map[string]any{"kind": "GitRepository", "name": "fleet"},
	})
	applied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "default"}}
	g.Eventually(func() error {
		return kube.Get(ctx, client.ObjectKeyFromObject(applied), applied)
	}, startTimeout, 20*time.Millisecond).Should(Succeed())
	g.Expect(applied.Labels).To(HaveKeyWithValue("kustomize.toolkit.fluxcd.io/name", "fleet"))
}

// create creates an object named fleet.
func create(ctx context.Context, g Gomega, kube client.Client, apiVersion, kind string, spec map[string]any) {
	g.Expect(kube.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "fleet", "namespace": "default"}, "spec": spec,
	}})).To(Succeed())
}
