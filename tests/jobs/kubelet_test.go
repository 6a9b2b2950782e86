// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestPodsAreRemovedWheneverTheyAreDeleted deletes pods that are about to start, to end, or whose end is about to be reported. One that
// is left would keep the slot of its run.
func TestPodsAreRemovedWheneverTheyAreDeleted(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	api := kubernetes.NewForConfigOrDie(u.ControlPlane.RESTConfig()).CoreV1()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: u.namespace}}
	u.Expect(client.IgnoreAlreadyExists(u.Client().Create(u.ctx, account))).To(Succeed())
	pods := api.Pods(u.namespace)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			name := fmt.Sprintf("pod-%d", i)
			container := corev1.Container{Name: "a", Image: sleeper, Args: []string{"0.3"}}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, ServiceAccountName: "default",
				InitContainers: []corev1.Container{container}, Containers: []corev1.Container{container},
			}}
			pod.Spec.InitContainers[0].Name = "first"
			if _, err := pods.Create(u.ctx, pod, metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
			time.Sleep(rand.N(4 * time.Second))
			if err := pods.Delete(u.ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	u.Eventually(func(g Gomega) {
		left, err := pods.List(u.ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(left.Items).To(BeEmpty())
	}, 25*time.Second, 100*time.Millisecond).Should(Succeed(), "within less than the grace period of 30 seconds")
}
