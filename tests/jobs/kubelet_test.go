// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// pods returns the client of the pods of the namespace, which has an account for them.
func (t *team) pods() typedcorev1.PodInterface {
	t.test.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: t.namespace}}
	t.Expect(client.IgnoreAlreadyExists(t.Client().Create(t.ctx, account))).To(Succeed())
	return kubernetes.NewForConfigOrDie(t.ControlPlane.RESTConfig()).CoreV1().Pods(t.namespace)
}

// TestTheVolumesOfAPodEndWithIt keeps the disk from filling up with those of the pods of Jobs, which are kept.
func TestTheVolumesOfAPodEndWithIt(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	pods := u.pods()
	pod, err := pods.Create(u.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, ServiceAccountName: "default",
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Containers: []corev1.Container{{
			Name: "a", Image: sleeper, Command: []string{"/bin/sh", "-c", `echo text >"$0/file" && echo "in $0"`, "/data"},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
		}},
	}}, metav1.CreateOptions{})
	u.Expect(err).NotTo(HaveOccurred())
	u.Eventually(func(g Gomega) {
		now, err := pods.Get(u.ctx, pod.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(now.Status.Phase).To(Equal(corev1.PodSucceeded))
	}).Should(Succeed())
	log := u.kubelet.Log(string(pod.UID))
	text, err := os.ReadFile(log)
	u.Expect(err).NotTo(HaveOccurred())
	_, dir, found := strings.Cut(strings.TrimSpace(string(text)), "in ")
	u.Expect(found).To(BeTrue(), string(text))
	u.Expect(dir).NotTo(BeAnExistingFile())
	u.Expect(filepath.Glob(filepath.Join(filepath.Dir(log), "*"))).To(ConsistOf(log), "the token of its account is gone, too")
}

// TestPodsAreRemovedWheneverTheyAreDeleted deletes pods that are about to start, to end, or whose end is about to be reported. One that
// is left would keep the slot of its run.
func TestPodsAreRemovedWheneverTheyAreDeleted(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	pods := u.pods()
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
