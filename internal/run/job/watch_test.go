// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"testing"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

func TestTheCacheHasNoInputsOfRuns(t *testing.T) {
	g := NewWithT(t)
	slimmed := func(object any) any {
		after, err := slim(object)
		g.Expect(err).NotTo(HaveOccurred())
		return after
	}
	meta := metav1.ObjectMeta{Name: "x", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "a"}}}
	secret := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{exchange.RunKey: []byte("secret"), exchange.ClaimKey: []byte("a"), exchange.ResultKey: []byte("b")}}
	for _, object := range []any{secret.DeepCopy(), toolscache.DeletedFinalStateUnknown{Obj: secret.DeepCopy()}} {
		g.Expect(slimmed(object)).To(Equal(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "x"},
			Data: map[string][]byte{exchange.ClaimKey: []byte("a"), exchange.ResultKey: []byte("b")}}))
	}
	pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "x"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	g.Expect(slimmed(pod)).To(Equal(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: corev1.PodSpec{NodeName: "node"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning}}))
	job := &batchv1.Job{ObjectMeta: meta}
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "x"}}
	g.Expect(slimmed(job)).To(Equal(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "x"}}))
	g.Expect(slimmed("something else")).To(Equal("something else"))
}
