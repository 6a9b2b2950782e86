// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
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

func TestTheVariantOfTheImage(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"of a tag":        {Options{Tag: "v1.2.3", Variant: "nodejs"}, Image + ":v1.2.3-nodejs"},
		"of no tag":       {Options{Variant: "all"}, Image + ":latest-all"},
		"of a prerelease": {Options{Tag: "v1.2.3-rc.1", Variant: "go"}, Image + ":v1.2.3-rc.1-go"},
		"of a mirror":     {Options{Image: "registry.example.com/mirror", Tag: "1", Variant: "python"}, "registry.example.com/mirror:1-python"},
		"none":            {Options{Tag: "v1.2.3"}, Image + ":v1.2.3"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			test.options.Namespace = "pulumi"
			text, err := Build(config.Files, test.options)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(text)).To(ContainSubstring("image: " + test.want + "\n"))
			_, tag, _ := strings.Cut(test.want, ":")
			g.Expect(VariantOf(tag)).To(Equal(test.options.Variant))
		})
	}
}
