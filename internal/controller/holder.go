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

// ThisHolder names this process, which has locked the file at that path: "" where it
// has locked none.
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

// Holders proves the death of processes that recorded runs.
type Holders struct {
	// Here is this process.
	Here v1.RunHolder
	// Reader reads pods from the API server itself.
	Reader client.Reader
	// Namespace of the pods that controllers run in. Without it, nothing can be
	// proven of a process on another host.
	Namespace string
}

// InPod tells the holder which pod it is, and returns the namespace of pods, where
// this process is a pod there whose name is its host name. Where it is not, on the
// network of its node or outside of the cluster, a host name says nothing about
// pods: the holder stays as it is, and the namespace is "".
func InPod(ctx context.Context, reader client.Reader, here v1.RunHolder, namespace string) (v1.RunHolder, string, error) {
	if namespace == "" {
		return here, "", nil
	}
	pod := &corev1.Pod{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: here.Host}, pod)
	if apierrors.IsNotFound(err) || pod.Spec.HostNetwork {
		return here, "", nil
	}
	if err != nil {
		return here, "", fmt.Errorf("failed to read the pod of this process, %s/%s: %w", namespace, here.Host, err)
	}
	here.PodUID = pod.UID
	return here, namespace, nil
}

// Gone is true when the process that recorded a run at that time is proven to be
// gone: by what this host tells of it, or by its pod. It is when there is no such
// pod, or another of that name, or when its containers have ended since: a pod that
// is there may only be out of reach. Without the UID of a pod, which a process has
// that is on the network of its node or outside of the cluster, its host is no
// pod's name, and that there is no such pod says nothing.
func (h Holders) Gone(ctx context.Context, holder v1.RunHolder, recorded time.Time) (bool, error) {
	if gone, proven := h.goneHere(holder); proven {
		return gone, nil
	}
	if h.Namespace == "" || holder.PodUID == "" {
		return false, nil
	}
	pod := &corev1.Pod{}
	err := h.Reader.Get(ctx, client.ObjectKey{Namespace: h.Namespace, Name: holder.Host}, pod)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("failed to read pod %s/%s: %w", h.Namespace, holder.Host, err)
	}
	switch {
	case pod.UID != holder.PodUID:
		// The pod that the process was in made room for this one. One object is
		// deleted only after its processes have ended, or when a person says so.
		return true, nil
	case pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
		// One that was evicted stays as an object, and none of its processes do.
		return true, nil
	}
	return containersEndedSince(pod, recorded), nil
}

// containersEndedSince is true when every container of the pod has ended, or was
// started, after that time: the process that wrote a record then was in one of
// them, and has ended with it. Which one it was in nobody tells a process, so that
// all of them count: beside a container that does not restart, its death is not
// proven that way.
//
// An ID or a number of restarts that a process reads from its pod when it starts
// would be those of the container before it, since the kubelet reports late. A
// comparison with them would prove the death of the living. Times cannot lag that
// way, and both are by the clock of the pod's node.
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

// laterSecond is true when the one time is in a later second than the other. The
// API keeps whole seconds: within one, nobody knows what came first.
func laterSecond(one, other time.Time) bool {
	return one.Truncate(time.Second).After(other.Truncate(time.Second))
}

// goneHere tells whether the process is gone, and whether that is proven, by what
// this process can see of its own machine.
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
		// It had locked the same file of the same machine, as long as it lived.
		return true, true
	case holder.Host != h.Here.Host:
		return false, false
	case other.boot != here.boot:
		return true, true
	case other.namespace != here.namespace:
		// Its number means nothing here: two pods on the network of one node, and the
		// containers of one pod, have the same host name.
		return false, false
	}
	return other.isGone()
}
