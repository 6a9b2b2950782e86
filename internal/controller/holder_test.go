// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"os/exec"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestTheDeathOfAProcessOnThisHostIsProven(t *testing.T) {
	g := NewWithT(t)
	here, err := ThisHolder()
	g.Expect(err).NotTo(HaveOccurred())
	again, err := ThisHolder()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(here))

	holders := Holders{Here: here}
	gone := func(instance string) bool {
		is, err := holders.Gone(context.Background(), v1.RunHolder{Host: here.Host, Instance: instance}, started)
		g.Expect(err).NotTo(HaveOccurred())
		return is
	}
	g.Expect(gone(here.Instance)).To(BeFalse())

	other := exec.Command("cat")
	stdin, err := other.StdinPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other.Start()).To(Succeed())
	instance, err := instanceOf(other.Process.Pid)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(gone(instance)).To(BeFalse(), "it is alive")
	g.Expect(gone(instance+"0")).To(BeTrue(), "the number belongs to a process that was started at another time")
	g.Expect(stdin.Close()).To(Succeed())
	g.Expect(other.Wait()).To(Succeed())
	g.Expect(gone(instance)).To(BeTrue())

	g.Expect(gone("garbage")).To(BeFalse(), "nothing is proven")
	g.Expect(gone("boot/pid/start")).To(BeFalse())
}

func TestTheDeathOfAPodIsProven(t *testing.T) {
	g := NewWithT(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: "pod-1", UID: "uid-1"}}
	var failure error
	reader := fake.NewClientBuilder().WithObjects(pod).WithStatusSubresource(pod).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if failure != nil {
				return failure
			}
			return c.Get(ctx, key, o, opts...)
		},
	}).Build()
	holders := Holders{Here: v1.RunHolder{Host: "pod-9"}, Reader: reader, Namespace: "flux-system"}

	g.Expect(holders.Gone(context.Background(), v1.RunHolder{Host: "pod-1"}, started)).To(BeFalse(), "there is such a pod")
	g.Expect(holders.Gone(context.Background(), v1.RunHolder{Host: "pod-2"}, started)).To(BeTrue())

	evicted := pod.DeepCopy()
	evicted.Name, evicted.ResourceVersion = "pod-3", ""
	g.Expect(reader.Create(context.Background(), evicted)).To(Succeed())
	evicted.Status.Phase = corev1.PodFailed
	g.Expect(reader.Status().Update(context.Background(), evicted)).To(Succeed())
	g.Expect(holders.Gone(context.Background(), v1.RunHolder{Host: "pod-3"}, started)).To(BeTrue(), "it is only an object")

	holder, namespace, err := InPod(context.Background(), reader, v1.RunHolder{Host: "pod-1"}, "flux-system")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(namespace).To(Equal("flux-system"))
	g.Expect(holder).To(Equal(v1.RunHolder{Host: "pod-1", PodUID: "uid-1"}))
	holder, namespace, err = InPod(context.Background(), reader, v1.RunHolder{Host: "node-1"}, "flux-system")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(namespace).To(BeEmpty(), "it is no pod's name")
	g.Expect(holder).To(Equal(v1.RunHolder{Host: "node-1"}))

	failure = errors.New("connection refused")
	_, err = holders.Gone(context.Background(), v1.RunHolder{Host: "pod-2"}, started)
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")), "no answer proves nothing")

	holders.Namespace = ""
	g.Expect(holders.Gone(context.Background(), v1.RunHolder{Host: "pod-2"}, started)).To(BeFalse())
}
