// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

func TestTheCacheKeepsOnlyTheFieldsInUse(t *testing.T) {
	g := NewWithT(t)
	slimmed := func(object any) any {
		after, err := slim(object)
		g.Expect(err).NotTo(HaveOccurred())
		return after
	}
	large := strings.Repeat("x", 1<<10)
	whole := metav1.ObjectMeta{
		Namespace: "a", Name: "x", UID: "u", ResourceVersion: "1", CreationTimestamp: metav1.Time{Time: at}, DeletionTimestamp: &metav1.Time{Time: at},
		Labels:          map[string]string{RunLabel: "1", partLabel: "one", batchv1.JobNameLabel: "x", "mine": large, "pulumi.com/mine": large},
		Annotations:     map[string]string{stackAnnotation: "app", revisionAnnotation: large, "mine": large},
		OwnerReferences: ofJob("1"), Finalizers: []string{large}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "a"}},
	}
	meta := *whole.DeepCopy()
	meta.Labels = map[string]string{RunLabel: "1", partLabel: "one", batchv1.JobNameLabel: "x"}
	meta.Annotations = map[string]string{stackAnnotation: "app"}
	meta.OwnerReferences, meta.Finalizers, meta.ManagedFields = nil, nil, nil

	secret := &corev1.Secret{ObjectMeta: whole, Immutable: ptr.To(true), Data: map[string][]byte{
		exchange.RunKey: []byte("secret"), exchange.ClaimKey: []byte("a"), exchange.ResultKey: []byte(large), "mine": []byte(large),
	}}
	for _, object := range []any{secret.DeepCopy(), toolscache.DeletedFinalStateUnknown{Obj: secret.DeepCopy()}} {
		g.Expect(slimmed(object)).To(Equal(&corev1.Secret{ObjectMeta: meta, Immutable: ptr.To(true),
			Data: map[string][]byte{exchange.ClaimKey: []byte("a"), exchange.ResultKey: {0}}}))
	}
	podMeta := *meta.DeepCopy()
	podMeta.OwnerReferences = whole.OwnerReferences
	pod := &corev1.Pod{ObjectMeta: whole, Spec: corev1.PodSpec{NodeName: "node", ServiceAccountName: "as", Containers: []corev1.Container{{Name: "x"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	g.Expect(slimmed(pod.DeepCopy())).To(Equal(&corev1.Pod{ObjectMeta: podMeta, Spec: corev1.PodSpec{NodeName: "node"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning}}))
	job := suspendedJob()
	job.ObjectMeta = whole
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "x"}}
	job.Status = failedJob("DeadlineExceeded", "").Status
	g.Expect(slimmed(job.DeepCopy())).To(Equal(&batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Suspend: ptr.To(true)}, Status: job.Status}))
	g.Expect(slimmed("something else")).To(Equal("something else"))

	whole.Annotations[stackAnnotation] = large
	g.Expect(slimmed(&corev1.Secret{ObjectMeta: whole})).To(HaveField("Annotations", BeEmpty()), "no Stack has a name that long")
}
