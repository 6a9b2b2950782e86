// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

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

// PodNamespace returns the namespace where this process is a pod there whose name
// is its host name, and "" where it is not: on the network of its node, or outside
// of the cluster, a host name says nothing about pods.
func PodNamespace(ctx context.Context, reader client.Reader, here v1.RunHolder, namespace string) (string, error) {
	if namespace == "" {
		return "", nil
	}
	pod := &corev1.Pod{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: here.Host}, pod)
	if apierrors.IsNotFound(err) || pod.Spec.HostNetwork {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("failed to read the pod of this process, %s/%s: %w", namespace, here.Host, err)
	}
	return namespace, nil
}

// Gone is true when the process is proven to be gone. On this host it is when
// there is no such process. On another, which is a pod, it is when there is no
// such pod: a pod that is there may only be out of reach.
func (h Holders) Gone(ctx context.Context, holder v1.RunHolder) (bool, error) {
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
	// One that was evicted stays as an object, and none of its processes do.
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded, nil
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
