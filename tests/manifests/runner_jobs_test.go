// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/flux-pulumi/pulumi-controller/internal/run/job"
)

// withJobs builds config/default and config/runner-jobs with a block of runners.md.
func withJobs(t *testing.T, has string) ([]*unstructured.Unstructured, corev1.PodSpec) {
	t.Helper()
	g := NewWithT(t)
	dir, blocks := besideConfig(t, "runners.md")
	whole := "resources: [../config/default]\ncomponents: [../config/runner-jobs]\n" + theOne(t, blocks, has)
	g.Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(whole), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "template.yaml"), []byte(theOne(t, blocks, "http://proxy.example.com:3128\n")), 0o600)).To(Succeed())
	objects := builtOf(t, dir)
	deployments := deploymentsIn(t, objects)
	g.Expect(deployments).To(HaveLen(1))
	return objects, deployments[0].Spec.Template.Spec
}

func TestTheDefaultsOfRunsAreMounted(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	objects, pod := withJobs(t, "configMapGenerator:\n")
	main := pod.Containers[0]
	path, isLast := strings.CutPrefix(main.Args[len(main.Args)-1], "--runner-workspace-template=")
	g.Expect(isLast).To(BeTrue(), "%v", main.Args)
	var volume string
	for _, mount := range main.VolumeMounts {
		if mount.MountPath == filepath.Dir(path) {
			volume = mount.Name
		}
	}
	g.Expect(pod.Volumes).To(ContainElement(HaveField("Name", volume)))
	for _, object := range objects {
		if object.GetKind() != "ConfigMap" {
			continue
		}
		var config corev1.ConfigMap
		g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &config)).To(Succeed())
		g.Expect(pod.Volumes).To(ContainElement(And(HaveField("Name", volume), HaveField("ConfigMap.Name", config.Name))))
		_, err := job.ReadDefaults([]byte(config.Data[filepath.Base(path)]), job.Settings{Image: "a"})
		g.Expect(err).NotTo(HaveOccurred())
		return
	}
	t.Fatal("there is no ConfigMap")
}

func TestTheSwitchFromJobsToLocalKeepsTheRights(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	objects, pod := withJobs(t, "value: --runner=local\n")
	g.Expect(pod.Containers[0].Args).To(ContainElement("--runner=job"))
	g.Expect(pod.Containers[0].Args[len(pod.Containers[0].Args)-1]).To(Equal("--runner=local"), "the last one counts")
	g.Expect(objects).To(ContainElement(And(HaveField("GetKind()", "ClusterRole"), HaveField("GetName()", "pulumi-controller-jobs"))))
}

func TestTheImagesOfRunsAreVariants(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	dir, _ := besideConfig(t, "runners.md")
	whole := "resources: [../config/default]\ncomponents: [../config/multi-tenancy, ../config/runner-images]\n"
	g.Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(whole), 0o600)).To(Succeed())
	deployments := deploymentsIn(t, builtOf(t, dir))
	g.Expect(deployments).To(HaveLen(1))
	images := map[string]string{}
	for _, arg := range deployments[0].Spec.Template.Spec.Containers[0].Args {
		pairs, is := strings.CutPrefix(arg, "--runner-images=")
		if !is {
			continue
		}
		for pair := range strings.SplitSeq(pairs, ",") {
			runtime, image, _ := strings.Cut(pair, "=")
			images[runtime] = strings.TrimPrefix(image, "ghcr.io/flux-pulumi/pulumi-controller:latest-")
		}
	}
	g.Expect(images).To(Equal(map[string]string{
		"nodejs": "nodejs", "bun": "nodejs", "python": "python", "go": "go", "dotnet": "all", "java": "all",
	}))
}
