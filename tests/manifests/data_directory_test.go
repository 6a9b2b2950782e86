// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// besideConfig returns an empty directory beside a copy of config/, and the blocks of a page of docs/.
func besideConfig(t *testing.T, page string) (dir string, blocks []Unit) {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	scratch := t.TempDir()
	g.Expect(os.CopyFS(filepath.Join(scratch, "config"), os.DirFS(filepath.Join(root, "config")))).To(Succeed())
	dir = filepath.Join(scratch, "mine")
	g.Expect(os.Mkdir(dir, 0o700)).To(Succeed())
	text, err := os.ReadFile(filepath.Join(root, "docs", page))
	g.Expect(err).NotTo(HaveOccurred())
	return dir, FencedBlocks(page, string(text))
}

// builtOf returns what kustomize makes of the directory.
func builtOf(t *testing.T, dir string) []*unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	built, err := controlplane.Kustomize(t.Context(), dir)
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := Unit{Name: dir, Text: string(built)}.Objects()
	g.Expect(err).NotTo(HaveOccurred())
	return objects
}

// withVolume returns what kustomize makes of what installation.md shows for the data directory, on a directory of config/ of this
// repository in place of the one at GitHub.
func withVolume(t *testing.T, on string) []*unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	dir, blocks := besideConfig(t, "installation.md")
	for name, has := range map[string]string{"data.yaml": "kind: PersistentVolumeClaim\n", "kustomization.yaml": "  - data.yaml\n"} {
		text := strings.ReplaceAll(local(theOne(t, blocks, has)), "config/default", "config/"+on)
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	return builtOf(t, dir)
}

// The Kustomization of Flux that applies the controller must not have the CRDs of the other one.
func TestTheDataDirectoryIsKeptWithFlux(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	objects := withVolume(t, "controller")
	g.Expect(objects).NotTo(ContainElement(HaveField("GetKind()", "CustomResourceDefinition")))
	g.Expect(objects).To(ContainElement(HaveField("GetKind()", "PersistentVolumeClaim")))
}

func TestTheDataDirectoryIsKept(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	objects := withVolume(t, "default")
	claims := map[string]bool{}
	var deployment *appsv1.Deployment
	for _, object := range objects {
		switch object.GetKind() {
		case "PersistentVolumeClaim":
			claims[object.GetNamespace()+"/"+object.GetName()] = true
		case "Deployment":
			deployment = deploymentOf(t, object)
		}
	}
	g.Expect(deployment).NotTo(BeNil())
	g.Expect(deployment.Spec.Strategy).To(Equal(appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}))
	sources := map[string]corev1.VolumeSource{}
	for _, volume := range deployment.Spec.Template.Spec.Volumes {
		sources[volume.Name] = volume.VolumeSource
	}
	g.Expect(sources).To(HaveLen(2))
	g.Expect(sources["data"].PersistentVolumeClaim).NotTo(BeNil())
	g.Expect(claims).To(HaveKey(deployment.Namespace + "/" + sources["data"].PersistentVolumeClaim.ClaimName))
}

// testVolumeForAController gives it to one that is installed: what the API server has set itself must not be in the way.
func testVolumeForAController(t *testing.T, server *api) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	for _, objects := range [][]*unstructured.Unstructured{builtOf(t, filepath.Join(root, "config", "default")), withVolume(t, "default")} {
		for _, object := range objects {
			server.install(t, object)
		}
	}
	var deployment appsv1.Deployment
	g.Expect(server.strict.Get(t.Context(), client.ObjectKey{Namespace: "flux-system", Name: "pulumi-controller"}, &deployment)).To(Succeed())
	g.Expect(deployment.Spec.Strategy).To(Equal(appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}))
	g.Expect(deployment.Spec.Template.Spec.Volumes).To(ContainElement(And(
		HaveField("PersistentVolumeClaim", Not(BeNil())), HaveField("EmptyDir", BeNil()))))
}

// TestPluginsAreThereBeforehand builds what installation.md shows for it.
func TestPluginsAreThereBeforehand(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	dir, blocks := besideConfig(t, "installation.md")
	for _, block := range blocks {
		if strings.Contains(block.Text, "/initContainers\n") {
			whole := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - ../config/controller\n" + block.Text
			g.Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(whole), 0o600)).To(Succeed())
		}
	}
	objects := builtOf(t, dir)
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		pod := deploymentOf(t, object).Spec.Template.Spec
		g.Expect(pod.InitContainers).To(HaveLen(1))
		first, controller := pod.InitContainers[0], pod.Containers[0]
		g.Expect(controller.VolumeMounts).To(ContainElements(first.VolumeMounts))
		g.Expect(controller.Args).To(ContainElements("--data-dir="+first.VolumeMounts[0].MountPath, "--acquire-plugins=false"))
		g.Expect(first.Command[len(first.Command)-1]).To(Equal(first.VolumeMounts[0].MountPath + "/plugins"))
		return
	}
	t.Fatal("there is no Deployment")
}
