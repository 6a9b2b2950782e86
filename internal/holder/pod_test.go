// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package holder

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// containerOf is the status of a container: when the current one started, and when the
// previous one ended.
type containerOf struct{ started, ended time.Duration }

// never is for what did not happen.
const never = 1000 * time.Hour

// podOf returns a pod whose containers started and ended this long after the run was
// recorded.
func podOf(containers ...containerOf) *corev1.Pod {
	at := func(after time.Duration) metav1.Time { return metav1.Time{Time: started.Add(after)} }
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: "pod-1", UID: "uid-1"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for i, c := range containers {
		name := string(rune('a' + i))
		status := corev1.ContainerStatus{Name: name}
		if c.started != never {
			status.State.Running = &corev1.ContainerStateRunning{StartedAt: at(c.started)}
		} else {
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
		}
		if c.ended != never {
			status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{FinishedAt: at(c.ended)}
		}
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
	}
	return pod
}

func TestTheDeathOfAContainerIsProven(t *testing.T) {
	tests := map[string]struct {
		pod  *corev1.Pod
		uid  types.UID
		want bool
	}{
		"a container started before the record may have the run":       {podOf(containerOf{-time.Minute, never}), "uid-1", false},
		"a container restarted after the record has lost the run":      {podOf(containerOf{time.Minute, 50 * time.Second}), "uid-1", true},
		"a restarted container without a recorded end has lost it too": {podOf(containerOf{time.Minute, never}), "uid-1", true},
		"a container that ended after the record and waits to restart": {podOf(containerOf{never, time.Minute}), "uid-1", true},
		"a container whose last restart was before the record":         {podOf(containerOf{-time.Minute, -2 * time.Minute}), "uid-1", false},
		"a start in the same second proves nothing":                    {podOf(containerOf{400 * time.Millisecond, never}), "uid-1", false},
		"an end in the same second proves nothing":                     {podOf(containerOf{never, 999 * time.Millisecond}), "uid-1", false},
		"a start in the second after does":                             {podOf(containerOf{time.Second, never}), "uid-1", true},
		"a waiting container without a recorded end proves nothing":    {podOf(containerOf{never, never}), "uid-1", false},
		"any container may have the run":                               {podOf(containerOf{time.Minute, never}, containerOf{-time.Minute, never}), "uid-1", false},
		"no container has the run if all started after the record":     {podOf(containerOf{time.Minute, never}, containerOf{time.Hour, never}), "uid-1", true},
		"a pod without container statuses proves nothing":              {withoutStatuses(podOf(containerOf{time.Minute, never})), "uid-1", false},
		"another pod of that name":                                     {podOf(containerOf{-time.Minute, never}), "uid-0", true},
		"a record without the UID of a pod proves nothing":             {podOf(containerOf{-time.Minute, never}), "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if tt.pod.UID == tt.uid {
				g.Expect(containersEndedSince(tt.pod, started)).To(Equal(tt.want), "also with times that have fractions")
			}
			prover := Prover{
				Here:   v1.RunHolder{Host: "pod-9", PodNamespace: "flux-system"},
				Reader: fake.NewClientBuilder().WithObjects(tt.pod).Build(),
			}
			g.Expect(prover.Gone(context.Background(), v1.RunHolder{Host: "pod-1", PodUID: tt.uid, PodNamespace: "flux-system"}, started)).To(Equal(tt.want))
		})
	}
}

// Two controllers in namespaces of their own may watch the same Stacks, and an old one
// finishes its runs after the controller was installed in another namespace.
func TestAPodOfAnotherNamespaceIsNotSeen(t *testing.T) {
	g := NewWithT(t)
	prover := Prover{
		Here:   v1.RunHolder{Host: "pod-9", PodUID: "uid-9", PodNamespace: "another"},
		Reader: fake.NewClientBuilder().Build(),
	}
	for _, namespace := range []string{"flux-system", ""} {
		g.Expect(prover.Gone(context.Background(), v1.RunHolder{Host: "pod-1", PodUID: "uid-1", PodNamespace: namespace}, started)).To(BeFalse(), namespace)
	}
	g.Expect(prover.Gone(context.Background(), v1.RunHolder{Host: "pod-1", PodUID: "uid-1", PodNamespace: "another"}, started)).To(BeTrue())
	prover.Here = v1.RunHolder{Host: "laptop"}
	g.Expect(prover.Gone(context.Background(), v1.RunHolder{Host: "pod-1", PodUID: "uid-1"}, started)).To(BeFalse(), "nor is one of which the namespace is not known")
}

func withoutStatuses(pod *corev1.Pod) *corev1.Pod {
	pod.Status.ContainerStatuses = nil
	return pod
}
