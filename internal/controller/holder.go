// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// ThisHolder identifies this process, which has locked the file at that path; "" if none.
func ThisHolder(lock string) (v1.RunHolder, error) {
	host, err := os.Hostname()
	if err != nil {
		return v1.RunHolder{}, fmt.Errorf("failed to read the host name: %w", err)
	}
	here, err := thisInstance(lock)
	if err != nil {
		return v1.RunHolder{}, fmt.Errorf("failed to read what tells this process from others: %w", err)
	}
	return v1.RunHolder{Host: host, Instance: here.String()}, nil
}

// Holders proves that processes that recorded runs are dead.
type Holders struct {
	// Here is this process. Unless it is a pod, nothing can be proven about a process on
	// another host.
	Here v1.RunHolder
	// Reader reads pods from the API server.
	Reader client.Reader
}

// InPod sets the pod of this process in the holder. If the process is not a pod named by
// its host name, because it is on the host network or outside of the cluster, it returns
// the holder unchanged: its host name says nothing about pods.
func InPod(ctx context.Context, reader client.Reader, here v1.RunHolder, namespace string) (v1.RunHolder, error) {
	if namespace == "" {
		return here, nil
	}
	pod := &corev1.Pod{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: here.Host}, pod)
	if apierrors.IsNotFound(err) || pod.Spec.HostNetwork {
		return here, nil
	}
	if err != nil {
		return here, fmt.Errorf("failed to read the pod of this process, %s/%s: %w", namespace, here.Host, err)
	}
	here.PodUID, here.PodNamespace = pod.UID, namespace
	return here, nil
}

// Gone reports whether the process that recorded a run at that time is proven to be gone,
// by what this host knows or by its pod. A pod proves it if it does not exist, was
// replaced by another of that name, or had its containers end since then; one that merely
// exists may be out of reach. A holder without the UID of a pod is on the host network or
// outside of the cluster: its host name is not that of a pod, so a missing pod proves
// nothing. Nor does one that is missing in another namespace than that of the holder.
func (h Holders) Gone(ctx context.Context, holder v1.RunHolder, recorded time.Time) (bool, error) {
	if gone, proven := h.goneHere(holder); proven {
		return gone, nil
	}
	if holder.PodUID == "" || holder.PodNamespace == "" || holder.PodNamespace != h.Here.PodNamespace {
		return false, nil
	}
	pod := &corev1.Pod{}
	err := h.Reader.Get(ctx, client.ObjectKey{Namespace: holder.PodNamespace, Name: holder.Host}, pod)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("failed to read pod %s/%s: %w", holder.PodNamespace, holder.Host, err)
	}
	switch {
	case pod.UID != holder.PodUID:
		// The pod of the process was replaced by this one. A pod object is deleted only
		// after its processes have ended, or when a person forces it.
		return true, nil
	case pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
		// The object of an evicted pod stays, but none of its processes do.
		return true, nil
	}
	return containersEndedSince(pod, recorded), nil
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

// goneHere reports whether the process is gone, and whether that is proven by what this
// process can see of its own machine.
func (h Holders) goneHere(holder v1.RunHolder) (gone, proven bool) {
	other, err := parseInstance(holder.Instance)
	if err != nil {
		return false, false
	}
	here, err := parseInstance(h.Here.Instance)
	if err != nil {
		return false, false
	}
	switch {
	case other.boot == here.boot && other.lock == here.lock && here.lock != "" && other != here:
		// It held the lock on the same file of the same machine as long as it lived.
		return true, true
	case holder.Host != h.Here.Host:
		return false, false
	case other.boot != here.boot:
		return true, true
	case other.namespace != here.namespace:
		// Its PID means nothing here: two pods on the host network of one node, and the
		// containers of one pod, share a host name.
		return false, false
	}
	return other.isGone()
}
