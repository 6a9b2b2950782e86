// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package holder

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// OwnPod returns the pod of this process in the namespace that it runs in, an empty one if
// it is in none.
func OwnPod(ctx context.Context, reader client.Reader, namespace string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if namespace == "" {
		return pod, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("failed to read the host name: %w", err)
	}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: host}, pod); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("failed to read the pod of this process, %s/%s: %w", namespace, host, err)
	}
	return pod, nil
}

// InPod sets the pod of this process, as OwnPod returns it, in the holder. If the process
// is not a pod named by its host name, because it is on the host network or outside of the
// cluster, it returns the holder unchanged: its host name says nothing about pods.
func InPod(here v1.RunHolder, pod *corev1.Pod) v1.RunHolder {
	if pod.UID == "" || pod.Spec.HostNetwork {
		return here
	}
	here.PodUID, here.PodNamespace = pod.UID, pod.Namespace
	return here
}

// podGone reports whether the pod, which has the name of the one with that UID, proves that
// the process that wrote a record at that time is dead.
func podGone(pod *corev1.Pod, uid types.UID, recorded time.Time) bool {
	switch {
	case pod.UID != uid:
		// The pod of the process was replaced by this one. A pod object is deleted only
		// after its processes have ended, or when a person forces it.
		return true
	case pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
		// The object of an evicted pod stays, but none of its processes do.
		return true
	}
	return containersEndedSince(pod, recorded)
}

// containersEndedSince reports whether every container of the pod has ended or was
// started after that time, so that the process that wrote a record then is dead. A
// process cannot know which container it is in, so all of them count: if one of them does
// not restart, this proves nothing.
//
// A container ID or restart count that a process reads from its own pod at startup could
// be that of the container before it, since the kubelet reports late, and comparing them
// would declare the living dead. Times cannot lag that way, and both come from the clock
// of the pod's node.
func containersEndedSince(pod *corev1.Pod, recorded time.Time) bool {
	for i := range pod.Spec.Containers {
		if !endedSince(pod, pod.Spec.Containers[i].Name, recorded) {
			return false
		}
	}
	return len(pod.Spec.Containers) > 0
}

func endedSince(pod *corev1.Pod, container string, recorded time.Time) bool {
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.Name != container {
			continue
		}
		for _, state := range []corev1.ContainerState{status.State, status.LastTerminationState} {
			switch {
			case state.Running != nil && laterSecond(state.Running.StartedAt.Time, recorded):
				return true
			case state.Terminated != nil && laterSecond(state.Terminated.FinishedAt.Time, recorded):
				return true
			}
		}
	}
	return false
}

// laterSecond reports whether one is in a later second than other. The API keeps whole
// seconds, so the order within a second is unknown.
func laterSecond(one, other time.Time) bool {
	return one.Truncate(time.Second).After(other.Truncate(time.Second))
}
