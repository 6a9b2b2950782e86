// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const version = "app.kubernetes.io/version"

// TestARelease expects the version on every object of an installation, and the image in each Deployment, including
// shards.
func TestARelease(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	image := "ghcr.io/flux-pulumi/pulumi-controller:v1.2.3@sha256:9fd0b2a41c1d5ee7a7ae47a2be07f2c1a4ce0dd7a9e4f7a4a27bd3a1ff3ec5d8"
	release := releaseOf(t, image)
	for name, deployments := range map[string]int{
		"config/crd": 0, "config/default": 1, "config/controller": 1, "config/sharding": 2, "config/sharding/shard1": 1, "config/notifications/rbac": 0,
	} {
		built, err := controlplane.Kustomize(t.Context(), filepath.Join(release, name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(labelled(t, Unit{Name: name, Text: string(built)}, image)).To(Equal(deployments), name)
	}
	for name, deployments := range map[string]int{"pulumi-controller.crds.yaml": 0, "install.yaml": 1} {
		text, err := os.ReadFile(filepath.Join(release, "assets", name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(labelled(t, Unit{Name: name, Text: string(text)}, image)).To(Equal(deployments), name)
	}
	images, err := os.ReadFile(filepath.Join(release, "config", "runner-images", "kustomization.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(images)).To(ContainSubstring(" python=ghcr.io/flux-pulumi/pulumi-controller:v1.2.3-python,"))
	g.Expect(string(images)).NotTo(ContainSubstring("latest"))
	g.Expect(filepath.Join(release, "config", "embed.go")).NotTo(BeAnExistingFile(), "the artifact has manifests alone")
}

// releaseOf returns the directory that a release of the image is built from.
func releaseOf(t *testing.T, image string) string {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	_, err = process.FindBin("kustomize")
	g.Expect(err).NotTo(HaveOccurred())
	dir := filepath.Join(t.TempDir(), "release")
	script := exec.CommandContext(t.Context(), "hack/release-manifests.sh", image, dir)
	script.Dir = root
	output, err := script.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", output)
	return dir
}

// labelled checks each object and returns the number of Deployments.
func labelled(t *testing.T, unit Unit, image string) (deployments int) {
	t.Helper()
	g := NewWithT(t)
	objects, err := unit.Objects()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(objects).NotTo(BeEmpty(), unit.Name)
	for _, object := range objects {
		what := unit.Name + ": " + object.GetKind() + " " + object.GetName()
		g.Expect(object.GetLabels()).To(HaveKeyWithValue(version, "v1.2.3"), what)
		if object.GetKind() == "Deployment" {
			deployments++
			expectReleased(t, object, image)
		}
	}
	return deployments
}

func expectReleased(t *testing.T, object *unstructured.Unstructured, image string) {
	t.Helper()
	g := NewWithT(t)
	spec := deploymentOf(t, object).Spec
	g.Expect(spec.Template.Labels).To(HaveKeyWithValue(version, "v1.2.3"), object.GetName())
	g.Expect(spec.Selector.MatchLabels).NotTo(HaveKey(version), "it cannot be changed by an upgrade: %s", object.GetName())
	g.Expect(spec.Template.Spec.Containers[0].Image).To(Equal(image), object.GetName())
}
