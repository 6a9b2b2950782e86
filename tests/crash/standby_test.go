// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// The container of the leader dies in mid-update, another replica becomes the leader, and
// the container restarts, in the same pod, as the standby. The pod exists all the time:
// only its status shows that the process with the run is gone, and until then the run is
// left to it.
func TestContainerThatRestartsAsStandby(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	if err := system.CanIsolate(); err != nil {
		t.Skipf("a container cannot be imitated here (it takes root): %v", err)
	}
	ctx := t.Context()
	u := newSubject(t, start(t, leaderElection()...), "standby")
	u.Expect(u.s.Controller.Stop()).To(Succeed(), "the replicas are pods, and it is none")
	for _, name := range []string{"pod-a", "pod-b"} {
		u.startPod(ctx, name)
	}
	first, err := u.s.StartInPod("pod-a")
	u.Expect(err).NotTo(HaveOccurred())
	u.awaitLeader(ctx, "pod-a")
	_, err = u.s.StartInPod("pod-b")
	u.Expect(err).NotTo(HaveOccurred())
	u.create(ctx, quick(2, "one"), nil)
	u.awaitCurrent(ctx)
	u.edit(ctx, []thing{{name: "quick-0", value: "two", hold: cloud.Update}, {name: "quick-1", value: "one"}})
	u.awaitStarted(ctx, cloud.Update, "quick-0")
	recorded := u.awaitRun(ctx, v1.OperationUpdate)
	u.Expect(recorded.Holder.Host).To(Equal("pod-a"))

	u.Expect(first.Kill()).To(Succeed())
	u.Eventually(func() []int { return u.processes("") }).Should(BeEmpty(), "all of a container ends with it")
	u.release()
	u.awaitLeader(ctx, "pod-b")
	_, err = u.s.StartInPod("pod-a")
	u.Expect(err).NotTo(HaveOccurred())
	u.Consistently(func() *v1.RunStatus { return u.stack(ctx).Status.Run }, "5s").Should(HaveField("ID", recorded.ID),
		"by its status the container of the pod is the one that has the run")

	u.restartContainer(ctx, "pod-a")
	u.awaitCurrent(ctx)
	u.Expect(u.leader(ctx)).To(HavePrefix("pod-b_"))
	u.checkExact()
}

const containerName = "manager"

// startPod creates the Pod, with a container that has been running for a while.
func (u *subject) startPod(ctx context.Context, name string) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: u.s.RuntimeNamespace(), Name: name},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: containerName, Image: "pulumi-controller", VolumeMounts: []corev1.VolumeMount{{Name: "host", MountPath: os.TempDir()}}}},
			Volumes:    []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: os.TempDir()}}}},
		},
	}
	u.Expect(u.s.Create(ctx, pod)).To(Succeed())
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{running(time.Now().Add(-time.Minute), 0)}
	u.Expect(u.s.Status().Update(ctx, pod)).To(Succeed())
}

// restartContainer makes the Pod's status report, like a kubelet, that its container has
// ended and another runs now.
func (u *subject) restartContainer(ctx context.Context, name string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: u.s.RuntimeNamespace(), Name: name}}
	u.Expect(u.s.Get(ctx, key(pod), pod)).To(Succeed())
	status := running(time.Now(), 1)
	status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
		ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.Now(),
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	u.Expect(u.s.Status().Update(ctx, pod)).To(Succeed())
}

// running is the status of the container after a number of restarts.
func running(since time.Time, restarts int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: containerName, Image: "pulumi-controller", Ready: true, RestartCount: restarts,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(since)}},
	}
}
