// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/flux-pulumi/pulumi-controller/internal/run/job"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestTheTemplatesForDependenciesAreThoseOfTheController builds the example, and has the code of the controller read the
// template that its Deployment mounts.
func TestTheTemplatesForDependenciesAreThoseOfTheController(t *testing.T) {
	root, err := process.RepoRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claim", "image"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			built, err := controlplane.Kustomize(t.Context(), filepath.Join(root, "examples", "job-dependencies", name))
			g.Expect(err).NotTo(HaveOccurred())
			objects, err := Unit{Name: name, Text: string(built)}.Objects()
			g.Expect(err).NotTo(HaveOccurred())
			templates := map[string]string{}
			var deployment appsv1.Deployment
			for _, object := range objects {
				switch {
				case object.GetKind() == "ConfigMap":
					text, _, err := unstructured.NestedString(object.Object, "data", "template.yaml")
					g.Expect(err).NotTo(HaveOccurred())
					templates[object.GetName()] = text
				case object.GetKind() == "Deployment" && object.GetName() == "pulumi-controller":
					g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment)).To(Succeed())
				}
			}
			pod := deployment.Spec.Template.Spec
			g.Expect(pod.Containers[0].Args).To(ContainElements("--runner=job", "--runner-workspace-template=/etc/pulumi-runs/template.yaml"))
			mounted := ""
			for _, volume := range pod.Volumes {
				if volume.Name == "runs" {
					mounted = volume.ConfigMap.Name
				}
			}
			g.Expect(templates).To(HaveKey(mounted))
			_, err = job.ReadDefaults([]byte(templates[mounted]), job.Settings{Image: "controller", DependencyCacheSize: 1})
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}
