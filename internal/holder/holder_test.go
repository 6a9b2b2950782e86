// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package holder

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

// started is when the runs of these tests were recorded.
var started = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// thisHolder is this process, with a lock of its own.
func thisHolder(t *testing.T) v1.RunHolder {
	g := NewWithT(t)
	lock := filepath.Join(t.TempDir(), "lock")
	g.Expect(os.WriteFile(lock, nil, 0o600)).To(Succeed())
	here, err := This(lock)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := This(lock)
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
	here := thisHolder(t)
	prover := Prover{Here: here}
	gone := func(holder v1.RunHolder) bool {
		is, err := prover.Gone(context.Background(), holder, started)
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
	here := thisHolder(t)
	prover := Prover{Here: here}
	living := besides(t, here, func(i *instance) { i.namespace, i.pid = "another", 1<<22+1 })
	g.Expect(prover.Gone(context.Background(), living, started)).To(BeFalse(), "here there is no such number")

	prover.Reader = fake.NewClientBuilder().WithObjects(podOf(containerOf{-time.Minute, never})).Build()
	prover.Here.PodNamespace, living.PodNamespace, living.PodUID = "flux-system", "flux-system", "uid-1"
	prover.Here.Host, living.Host = "pod-1", "pod-1"
	g.Expect(prover.Gone(context.Background(), living, started)).To(BeFalse(), "it may be in another container")
	prover.Reader = fake.NewClientBuilder().WithObjects(podOf(containerOf{time.Minute, never})).Build()
	g.Expect(prover.Gone(context.Background(), living, started)).To(BeTrue(), "the pod proves it")
}

// A container restarts in a pod whose other containers keep running.
func TestALockProvesTheDeathOfItsHolder(t *testing.T) {
	g := NewWithT(t)
	here := thisHolder(t)
	mine, err := parseInstance(here.Instance)
	g.Expect(err).NotTo(HaveOccurred())
	before := besides(t, here, func(i *instance) { i.namespace, i.lock = "another", mine.lock })
	g.Expect(Prover{Here: here}.Gone(context.Background(), before, started)).To(BeTrue())
	before = besides(t, here, func(i *instance) { i.namespace, i.lock, i.boot = "another", mine.lock, "elsewhere" })
	before.Host = "elsewhere"
	g.Expect(Prover{Here: here}.Gone(context.Background(), before, started)).To(BeFalse(), "it is a file of another machine")
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
	prover := Prover{Here: v1.RunHolder{Host: "pod-9", PodNamespace: "flux-system"}, Reader: reader}
	pods := func(name string, uid types.UID) v1.RunHolder {
		return v1.RunHolder{Host: name, PodUID: uid, PodNamespace: "flux-system"}
	}

	g.Expect(prover.Gone(context.Background(), pods("pod-1", "uid-1"), started)).To(BeFalse(), "there is such a pod")
	g.Expect(prover.Gone(context.Background(), pods("pod-2", "uid-2"), started)).To(BeTrue())
	g.Expect(prover.Gone(context.Background(), v1.RunHolder{Host: "node-1"}, started)).To(BeFalse(),
		"it is on the network of its node, or no pod, so that there is never a pod of that name")

	evicted := pod.DeepCopy()
	evicted.Name, evicted.ResourceVersion = "pod-3", ""
	g.Expect(reader.Create(context.Background(), evicted)).To(Succeed())
	evicted.Status.Phase = corev1.PodFailed
	g.Expect(reader.Status().Update(context.Background(), evicted)).To(Succeed())
	g.Expect(prover.Gone(context.Background(), pods("pod-3", "uid-1"), started)).To(BeTrue(), "it is only an object")

	here := v1.RunHolder{Host: "pod-1"}
	g.Expect(InPod(here, pod)).To(Equal(pods("pod-1", "uid-1")))
	g.Expect(InPod(here, &corev1.Pod{})).To(Equal(here), "it is no pod's name")
	onNode := pod.DeepCopy()
	onNode.Spec.HostNetwork = true
	g.Expect(InPod(here, onNode)).To(Equal(here), "its host name is that of the node")

	failure = errors.New("connection refused")
	_, err := prover.Gone(context.Background(), pods("pod-2", "uid-2"), started)
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")), "no answer proves nothing")

	prover.Here.PodNamespace = ""
	g.Expect(prover.Gone(context.Background(), pods("pod-2", "uid-2"), started)).To(BeFalse())
}
