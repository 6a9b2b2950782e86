// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package migration

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestHowTheOperatorIsStopped(t *testing.T) {
	const scale = "kubectl -n ops scale deployment operator --replicas=0"
	for _, tt := range []struct {
		name, image string
		labels      map[string]string
		replicas    *int32
		want        []string
	}{
		{"by hand", "docker.io/pulumi/pulumi-kubernetes-operator:v2.9.0", nil, nil, []string{scale}},
		{"from another registry, by its digest", "registry.example.com:5000/pulumi-kubernetes-operator@sha256:6c1f", nil, ptr.To[int32](2), []string{scale}},
		{"a HelmRelease", "pulumi/pulumi-kubernetes-operator:v2.9.0",
			map[string]string{"helm.toolkit.fluxcd.io/name": "pko", "helm.toolkit.fluxcd.io/namespace": "flux-system"}, nil,
			[]string{"flux suspend helmrelease pko -n flux-system", scale}},
		{"a Kustomization", "pulumi/pulumi-kubernetes-operator:v1.16.0",
			map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}, nil,
			[]string{"flux suspend kustomization apps -n flux-system", scale}},
		{"stopped", "pulumi/pulumi-kubernetes-operator", nil, ptr.To[int32](0), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "operator", Labels: tt.labels}}
			deployment.Spec.Replicas = tt.replicas
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Image: "proxy"}, {Image: tt.image}}
			g := NewWithT(t)
			found := OfDeployment(deployment)
			g.Expect(found).NotTo(BeNil())
			g.Expect(found.Stop).To(Equal(tt.want))
		})
	}
	other := &appsv1.Deployment{}
	other.Spec.Template.Spec.Containers = []corev1.Container{{Image: "pulumi-kubernetes-operator.example.com/proxy:1"}}
	NewWithT(t).Expect(OfDeployment(other)).To(BeNil())
}
