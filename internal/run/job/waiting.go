// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// stuckText returns why a container cannot start, if that does not pass by itself, else
// "". It ignores a first try that failed: the kubelet retries.
func stuckText(pods []corev1.Pod) string {
	for _, pod := range pods {
		if !isAlive(pod) {
			continue
		}
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if waiting := status.State.Waiting; waiting != nil && isStuck(waiting) {
				return fmt.Sprintf("container %s, image %s: %s", status.Name, status.Image, reasonText(waiting.Reason, waiting.Message))
			}
		}
	}
	return ""
}

func isStuck(waiting *corev1.ContainerStateWaiting) bool {
	if isUnsynced(waiting) {
		return false
	}
	switch waiting.Reason {
	case "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError",
		"CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return true
	}
	return false
}

// isUnsynced recognizes a kubelet that has not read the ConfigMaps and Secrets of a pod
// yet, as on a busy node. It tries again.
func isUnsynced(waiting *corev1.ContainerStateWaiting) bool {
	return waiting.Reason == "CreateContainerConfigError" && strings.Contains(waiting.Message, "failed to sync")
}

// waitingText returns what a run is waiting for.
func waitingText(s seen, claimed bool) string {
	switch {
	case s.secret == nil:
		return fmt.Sprintf("Secret %s was deleted, so the run cannot report its result", nameOf(s))
	case claimed && isImmutable(s.secret):
		return fmt.Sprintf("Secret %s was made immutable, so the run cannot report its result", nameOf(s))
	case claimed:
		return lostNodeText(s.pods)
	}
	if isSuspended(s.job) && !slices.ContainsFunc(s.pods, isAlive) {
		return fmt.Sprintf("Job %s is suspended: its pod is created once its spec.suspend is false", nameOf(s))
	}
	// A Job that was suspended and resumed may have an earlier pod, which has ended.
	i := slices.IndexFunc(s.pods, isAlive)
	if i < 0 {
		return fmt.Sprintf("Job %s waits for its pod", nameOf(s))
	}
	pod := s.pods[i]
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("pod %s waits for a node: %s", pod.Name, reasonText(c.Reason, c.Message))
		}
	}
	if tried := triedText(pod); tried != "" {
		return fmt.Sprintf("pod %s cannot be started yet: %s", pod.Name, tried)
	}
	if s.job != nil && s.now.Sub(s.job.CreationTimestamp.Time) > startPatience {
		return fmt.Sprintf("pod %s has not started: run `kubectl describe pod %s`; a missing volume is a common cause", pod.Name, pod.Name)
	}
	return fmt.Sprintf("pod %s is starting", pod.Name)
}

// startPatience is how long a pod may take to start before the message says where to look:
// the kubelet reports only in events that it cannot mount a volume.
const startPatience = 2 * time.Minute

// triedText returns what has failed and is retried, else "".
func triedText(pod corev1.Pod) string {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		// Of the init containers, only sidecars are restarted.
		if waiting := status.State.Waiting; waiting != nil && (waiting.Reason == "ErrImagePull" || waiting.Reason == "CrashLoopBackOff" || isUnsynced(waiting)) {
			return fmt.Sprintf("container %s, image %s: %s", status.Name, status.Image, reasonText(waiting.Reason, waiting.Message))
		}
	}
	return ""
}

// lostNodeText returns that the node of a pod does not respond, else "": the pod may be
// at work.
func lostNodeText(pods []corev1.Pod) string {
	for _, pod := range pods {
		if pod.Status.Reason == "NodeLost" || (pod.DeletionTimestamp != nil && notReady(pod)) {
			return fmt.Sprintf("pod %s was deleted, but node %s has not confirmed that it has ended: if the node is gone for good, delete its Node object", pod.Name, pod.Spec.NodeName)
		}
	}
	return ""
}

// notReady reports whether the cluster has noticed that the node of a pod does not
// respond.
func notReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == "DeletionByTaintManager"
	})
}
