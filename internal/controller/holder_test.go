// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// holderHere is this process, with a lock of its own.
func holderHere(t *testing.T) v1.RunHolder {
	g := NewWithT(t)
	lock := filepath.Join(t.TempDir(), "lock")
	g.Expect(os.WriteFile(lock, nil, 0o600)).To(Succeed())
	here, err := ThisHolder(lock)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := ThisHolder(lock)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(here))
	return here
}

// besides returns a holder that differs from this one by the given change.
func besides(t *testing.T, here v1.RunHolder, change func(*instance)) v1.RunHolder {
	other, err := parseInstance(here.Instance)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	other.lock = "another"
	change(&other)
	return v1.RunHolder{Host: here.Host, Instance: other.String()}
}

func TestTheDeathOfAProcessOnThisHostIsProven(t *testing.T) {
	g := NewWithT(t)
	here := holderHere(t)
	holders := Holders{Here: here}
	gone := func(holder v1.RunHolder) bool {
		is, err := holders.Gone(context.Background(), holder, started)
		g.Expect(err).NotTo(HaveOccurred())
		return is
	}
	g.Expect(gone(here)).To(BeFalse())

	other := exec.Command("cat")
	stdin, err := other.StdinPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other.Start()).To(Succeed())
	beside, err := processOf(other.Process.Pid)
	g.Expect(err).NotTo(HaveOccurred())
	holder := besides(t, here, func(i *instance) { i.hostProcess = beside })
	g.Expect(gone(holder)).To(BeFalse(), "it is alive")
	g.Expect(gone(besides(t, here, func(i *instance) { i.hostProcess = beside; i.start += "0" }))).To(BeTrue(),
		"the number belongs to a process that was started at another time")
	g.Expect(gone(besides(t, here, func(i *instance) { i.hostProcess = beside; i.boot = "before" }))).To(BeTrue())
	g.Expect(stdin.Close()).To(Succeed())
	g.Expect(other.Wait()).To(Succeed())
	g.Expect(gone(holder)).To(BeTrue())

	for _, instance := range []string{"garbage", "boot/pid/start/namespace/lock", "boot/1/start"} {
		g.Expect(gone(v1.RunHolder{Host: here.Host, Instance: instance})).To(BeFalse(), "nothing is proven")
	}
}

// Two pods on the host network of one node, and the containers of one pod, have the same
// host name, and PIDs of their own.
func TestAPIDOfAnotherNamespaceProvesNothing(t *testing.T) {
	g := NewWithT(t)
	here := holderHere(t)
	holders := Holders{Here: here}
	living := besides(t, here, func(i *instance) { i.namespace, i.pid = "another", 1<<22+1 })
	g.Expect(holders.Gone(context.Background(), living, started)).To(BeFalse(), "here there is no such number")

	holders.Reader = fake.NewClientBuilder().WithObjects(podOf(containerOf{-time.Minute, never})).Build()
	holders.Here.PodNamespace, living.PodNamespace, living.PodUID = "flux-system", "flux-system", "uid-1"
	holders.Here.Host, living.Host = "pod-1", "pod-1"
	g.Expect(holders.Gone(context.Background(), living, started)).To(BeFalse(), "it may be in another container")
	holders.Reader = fake.NewClientBuilder().WithObjects(podOf(containerOf{time.Minute, never})).Build()
	g.Expect(holders.Gone(context.Background(), living, started)).To(BeTrue(), "the pod proves it")
}

// A container restarts in a pod whose other containers keep running.
func TestALockProvesTheDeathOfItsHolder(t *testing.T) {
	g := NewWithT(t)
	here := holderHere(t)
	mine, err := parseInstance(here.Instance)
	g.Expect(err).NotTo(HaveOccurred())
	before := besides(t, here, func(i *instance) { i.namespace, i.lock = "another", mine.lock })
	g.Expect(Holders{Here: here}.Gone(context.Background(), before, started)).To(BeTrue())
	before = besides(t, here, func(i *instance) { i.namespace, i.lock, i.boot = "another", mine.lock, "elsewhere" })
	before.Host = "elsewhere"
	g.Expect(Holders{Here: here}.Gone(context.Background(), before, started)).To(BeFalse(), "it is a file of another machine")
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
	holders := Holders{Here: v1.RunHolder{Host: "pod-9", PodNamespace: "flux-system"}, Reader: reader}
	pods := func(name string, uid types.UID) v1.RunHolder {
		return v1.RunHolder{Host: name, PodUID: uid, PodNamespace: "flux-system"}
	}

	g.Expect(holders.Gone(context.Background(), pods("pod-1", "uid-1"), started)).To(BeFalse(), "there is such a pod")
	g.Expect(holders.Gone(context.Background(), pods("pod-2", "uid-2"), started)).To(BeTrue())
	g.Expect(holders.Gone(context.Background(), v1.RunHolder{Host: "node-1"}, started)).To(BeFalse(),
		"it is on the network of its node, or no pod, so that there is never a pod of that name")

	evicted := pod.DeepCopy()
	evicted.Name, evicted.ResourceVersion = "pod-3", ""
	g.Expect(reader.Create(context.Background(), evicted)).To(Succeed())
	evicted.Status.Phase = corev1.PodFailed
	g.Expect(reader.Status().Update(context.Background(), evicted)).To(Succeed())
	g.Expect(holders.Gone(context.Background(), pods("pod-3", "uid-1"), started)).To(BeTrue(), "it is only an object")

	holder, err := InPod(context.Background(), reader, v1.RunHolder{Host: "pod-1"}, "flux-system")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(holder).To(Equal(pods("pod-1", "uid-1")))
	holder, err = InPod(context.Background(), reader, v1.RunHolder{Host: "node-1"}, "flux-system")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(holder).To(Equal(v1.RunHolder{Host: "node-1"}), "it is no pod's name")

	failure = errors.New("connection refused")
	_, err = holders.Gone(context.Background(), pods("pod-2", "uid-2"), started)
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")), "no answer proves nothing")

	holders.Here.PodNamespace = ""
	g.Expect(holders.Gone(context.Background(), pods("pod-2", "uid-2"), started)).To(BeFalse())
}
