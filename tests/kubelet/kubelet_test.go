// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
)

// TestPodsAreRemovedWheneverTheyAreDeleted deletes pods that are about to start, to end, or to be told that they have ended. One that
// is left would keep the slot of its run.
func TestPodsAreRemovedWheneverTheyAreDeleted(t *testing.T) {
	t.Parallel()
	if err := CanRun(); err != nil {
		t.Skip(err)
	}
	g, ctx := NewWithT(t), context.WithoutCancel(t.Context())
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(plane.Stop()).To(Succeed()) })
	running, stop := context.WithCancel(ctx)
	node, err := Start(running, Options{Config: plane.RESTConfig(), Dir: t.TempDir(), Images: map[string]Image{
		"sleep": {Entrypoint: []string{"sleep"}, Path: "/usr/bin:/bin"},
	}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { stop(); node.Wait() })

	api := kubernetes.NewForConfigOrDie(plane.RESTConfig()).CoreV1()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err = api.ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	pods := api.Pods("default")
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			name := fmt.Sprintf("pod-%d", i)
			container := corev1.Container{Name: "a", Image: "sleep", Args: []string{"0.3"}}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, ServiceAccountName: "default",
				InitContainers: []corev1.Container{container}, Containers: []corev1.Container{container},
			}}
			pod.Spec.InitContainers[0].Name = "first"
			if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
			time.Sleep(rand.N(4 * time.Second))
			if err := pods.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	g.Eventually(func(g Gomega) {
		left, err := pods.List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(left.Items).To(BeEmpty())
	}, 25*time.Second, 100*time.Millisecond).Should(Succeed(), "within less than the grace period of 30 seconds")
}
