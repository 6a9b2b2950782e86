// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flux-pulumi/pulumi-controller/config"
)

func TestBuild(t *testing.T) {
	g := NewWithT(t)
	text, err := Build(config.Files, Options{Namespace: "pulumi", Image: "registry.example.com/pulumi-controller", Tag: "v1.2.3"})
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := Objects(text)
	g.Expect(err).NotTo(HaveOccurred())
	var kinds []string
	var deployment *unstructured.Unstructured
	for _, object := range objects {
		kinds = append(kinds, object.GetKind()+"/"+object.GetName())
		if object.GetKind() == "Deployment" {
			deployment = object
		}
	}
	g.Expect(kinds).To(ContainElements("CustomResourceDefinition/stacks.pulumi.com", "CustomResourceDefinition/programs.pulumi.com",
		"ServiceAccount/pulumi-controller", "Deployment/pulumi-controller"))
	g.Expect(deployment.GetNamespace()).To(Equal("pulumi"))
	g.Expect(string(text)).To(ContainSubstring("image: registry.example.com/pulumi-controller:v1.2.3\n"))
	g.Expect(string(text)).NotTo(ContainSubstring("namespace: flux-system"))
	g.Expect(string(text)).NotTo(ContainSubstring("- --runner=job\n"))
}

func TestBuildForJobs(t *testing.T) {
	g := NewWithT(t)
	text, err := Build(config.Files, Options{Namespace: "pulumi", Jobs: true})
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := Objects(text)
	g.Expect(err).NotTo(HaveOccurred())
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind()+"/"+object.GetNamespace()+"/"+object.GetName())
		if object.GetKind() == "ClusterRoleBinding" {
			subjects, _, err := unstructured.NestedSlice(object.Object, "subjects")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(subjects).To(ConsistOf(HaveKeyWithValue("namespace", "pulumi")), object.GetName())
		}
	}
	g.Expect(kinds).To(ContainElements("ClusterRole//pulumi-controller-jobs", "ClusterRoleBinding//pulumi-controller-jobs", "NetworkPolicy/pulumi/allow-pulumi-runs"))
	g.Expect(string(text)).To(ContainSubstring("- --runner=job\n"))
	g.Expect(string(text)).NotTo(ContainSubstring("namespace: flux-system"))
}
