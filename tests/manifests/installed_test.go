// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const partOf = "app.kubernetes.io/part-of"

// testInstallation applies config/default, and has the API server look at the pod of its Deployment as the strictest
// Pod Security Standard does.
func testInstallation(t *testing.T, server *api) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	text, err := controlplane.Kustomize(t.Context(), filepath.Join(root, "config", "default"))
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := Unit{Name: "config/default", Text: string(text)}.Objects()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(server.lenient.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "flux-system", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})).To(Succeed())

	parts := map[string]bool{}
	for _, object := range objects {
		owner := client.FieldOwner("kustomize-controller")
		applied := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		g.Expect(server.strict.Apply(t.Context(), applied, owner, client.ForceOwnership)).To(Succeed(), "%s %s", object.GetKind(), object.GetName())
		parts[object.GetKind()] = parts[object.GetKind()] || object.GetLabels()[partOf] == "flux"
		if object.GetKind() == "Deployment" {
			g.Expect(server.strict.Create(t.Context(), podOf(t, object), client.DryRunAll)).To(Succeed(), "the pod of the Deployment")
		}
	}
	g.Expect(parts).To(HaveKeyWithValue("Deployment", true), "flux check and flux logs find the controllers by it")
	g.Expect(parts).To(HaveKeyWithValue("CustomResourceDefinition", false), "flux uninstall deletes the CRDs that have it")
}

func podOf(t *testing.T, object *unstructured.Unstructured) *corev1.Pod {
	t.Helper()
	deployment := &appsv1.Deployment{}
	NewWithT(t).Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment)).To(Succeed())
	template := deployment.Spec.Template
	template.ObjectMeta.Name, template.ObjectMeta.Namespace = deployment.Name, deployment.Namespace
	return &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
}
