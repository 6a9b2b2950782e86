// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"os"
	"strings"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// runController does for the Deployment that Flux has applied what a node would: it runs the controller with the account and
// the flags that the Deployment has, and says so in its status, without which the Kustomization would wait for it in vain.
func (c *cluster) runController() {
	c.test.Helper()
	deployment := &appsv1.Deployment{}
	c.Eventually(func() error {
		return c.Get(c.ctx, client.ObjectKey{Namespace: fluxSystem, Name: system.Account}, deployment)
	}).Should(Succeed())
	pod := deployment.Spec.Template.Spec
	c.Expect(pod.Containers[0].Image).To(Equal("registry.example.com/pulumi-controller:1"), "the image of the guide")
	c.Expect(c.plane.WriteAccountKubeconfig(c.ctx, c.path("account"), fluxSystem, pod.ServiceAccountName)).To(Succeed())
	c.Expect(os.Mkdir(c.path("node"), 0o755)).To(Succeed())
	controller, err := system.Start(context.WithoutCancel(c.ctx), system.Options{
		Dir: c.path("node"), ControlPlane: c.plane, WithoutSources: true, Kubeconfig: c.path("account"),
		WritePaths:     []string{c.path("cloud")},
		ControllerArgs: append(onThisMachine(pod.Containers[0].Args), "--events-addr="+c.notifications.EventsURL()),
	})
	c.Expect(err).NotTo(HaveOccurred())
	c.test.Cleanup(func() { c.Expect(controller.Stop()).To(Succeed()) })
	c.available(deployment)
}

// onThisMachine returns the flags that need nothing of a cluster, such as Services and volumes.
func onThisMachine(args []string) (here []string) {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "--events-addr=") && !strings.HasPrefix(arg, "--data-dir=") {
			here = append(here, arg)
		}
	}
	return here
}

// available writes the status of the Deployment controller once the only pod is ready.
func (c *cluster) available(deployment *appsv1.Deployment) {
	c.test.Helper()
	before := deployment.DeepCopy()
	now := metav1.Now()
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", LastUpdateTime: now, LastTransitionTime: now},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable", LastUpdateTime: now, LastTransitionTime: now},
		},
	}
	c.Expect(c.Status().Patch(c.ctx, deployment, client.MergeFrom(before))).To(Succeed())
}
