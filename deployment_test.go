// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// readDeployment reads the Deployment that the project ships.
func readDeployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("config", "manager", "deployment.yaml"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	deployment := &appsv1.Deployment{}
	NewWithT(t).Expect(yaml.UnmarshalStrict(text, deployment)).To(Succeed())
	return deployment
}

func TestTheDeploymentLetsRunsFinish(t *testing.T) {
	g := NewWithT(t)
	pod := readDeployment(t).Spec.Template.Spec
	g.Expect(pod.Containers).To(HaveLen(1))
	t.Setenv("RUNTIME_NAMESPACE", "flux-system")
	c, err := parse(pod.Containers[0].Args)
	g.Expect(err).NotTo(HaveOccurred(), "the flags of the Deployment")

	killedAfter := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second
	g.Expect(killedAfter).To(BeNumerically(">=", c.LongestShutdown()),
		"the pod is killed while runs that it waits for are still in flight")
	g.Expect(c.CancelGrace).To(BeNumerically("<", c.GracefulShutdown), "a run would be left to the next process before it is told a second time")
	g.Expect(c.LeaderElection.Enable).To(BeTrue(), "two pods of a rolling update would both start runs")
}

func TestTheDeploymentWritesOnlyToItsVolumes(t *testing.T) {
	g := NewWithT(t)
	pod := readDeployment(t).Spec.Template.Spec
	container := pod.Containers[0]
	g.Expect(*container.SecurityContext.ReadOnlyRootFilesystem).To(BeTrue())
	c, err := parse(container.Args)
	g.Expect(err).NotTo(HaveOccurred())
	var mounted []string
	for _, mount := range container.VolumeMounts {
		mounted = append(mounted, mount.MountPath)
	}
	g.Expect(mounted).To(ContainElements(c.DataDir, "/tmp"))
}

// The controller takes less than 100 MiB, and a program in TypeScript with Pulumi's package alone 268 MiB while its types are
// checked: docs/benchmarks.md says how that was measured.
func TestTheDeploymentHasTheMemoryForItsRuns(t *testing.T) {
	const controller, program = 100 << 20, 268 << 20
	g := NewWithT(t)
	container := readDeployment(t).Spec.Template.Spec.Containers[0]
	c, err := parse(container.Args)
	g.Expect(err).NotTo(HaveOccurred())
	limit := container.Resources.Limits.Memory().Value()
	g.Expect(limit).To(BeNumerically(">=", controller+c.ConcurrentRuns*program), "and the providers come on top")
}
