// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// ThisHolder names this process.
func ThisHolder() (v1.RunHolder, error) {
	host, err := os.Hostname()
	if err != nil {
		return v1.RunHolder{}, fmt.Errorf("failed to read the host name: %w", err)
	}
	instance, err := instanceOf(os.Getpid())
	if err != nil {
		return v1.RunHolder{}, fmt.Errorf("failed to read what tells this process from others: %w", err)
	}
	return v1.RunHolder{Host: host, Instance: instance}, nil
}

// instanceOf tells a process of this host from all others that it has had: a
// number is used again, but not by two that were started at the same tick of the
// same boot.
func instanceOf(pid int) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The name of the program, in parentheses, may have anything in it. The start
	// time is field 22, the 20th after it (proc(5)).
	const startTime = 19
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) <= startTime {
		return "", fmt.Errorf("/proc/%d/stat has only %d fields", pid, len(fields))
	}
	return fmt.Sprintf("%s/%d/%s", strings.TrimSpace(string(boot)), pid, fields[startTime]), nil
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
// gone. On this host it is when there is no such process. On another, which is a
// pod, it is when there is no such pod, or another of that name, or when its
// containers have ended since: a pod that is there may only be out of reach.
func (h Holders) Gone(ctx context.Context, holder v1.RunHolder, recorded time.Time) (bool, error) {
	if holder.Host == h.Here.Host {
		return h.goneHere(holder.Instance), nil
	}
	if h.Namespace == "" {
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
	case holder.PodUID != "" && pod.UID != holder.PodUID:
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

// goneHere looks the process up. In a pod the host is the same for all
// containers that ran one after the other, and only one runs at a time.
func (h Holders) goneHere(instance string) bool {
	parts := strings.Split(instance, "/")
	const bootPidStart = 3
	if len(parts) != bootPidStart {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil {
		return false
	}
	now, err := instanceOf(pid)
	if os.IsNotExist(err) {
		return true
	}
	return err == nil && now != instance
}
