// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// deathText returns how the pod of a run without a result has ended.
func deathText(s seen, claimed bool) string {
	suffix := "; Pulumi was not started"
	if claimed {
		suffix = ""
	} else if why := jobText(s.job); why != "" && s.waited != "" {
		return "the run was never started: " + s.waited + "; " + why + suffix
	}
	for _, why := range []string{disruptionText(s.pods), memoryText(s.pods), jobText(s.job), exitText(s), rejectedText(s.pods)} {
		if why != "" {
			return why + suffix
		}
	}
	if s.job == nil && !claimed {
		return fmt.Sprintf("Job %s of the run does not exist: it was not created, %s%s", nameOf(s), deletedOrExpired, suffix)
	}
	return cmp.Or(goneText(s), "the pod of the run has ended without a result") + suffix
}

// deletedOrExpired is why a Job is gone. A controller that was away does not know which.
const deletedOrExpired = "was deleted, or ended and expired (ttlSecondsAfterFinished)"

// goneText returns which object of a run is gone or was ended from outside, else "".
func goneText(s seen) string {
	switch {
	case s.blind:
		return ""
	case s.secret == nil && s.job == nil:
		return "the Job and the Secret of the run are gone: the Secret was deleted, and the Job " + deletedOrExpired
	case s.job == nil:
		return fmt.Sprintf("Job %s of the run is gone: it %s", nameOf(s), deletedOrExpired)
	case isSuspended(s.job):
		return fmt.Sprintf("Job %s was suspended, which ended its pod", nameOf(s))
	case len(s.pods) == 0:
		return fmt.Sprintf("the pod of Job %s was deleted", nameOf(s))
	}
	for _, pod := range s.pods {
		if pod.DeletionTimestamp != nil {
			return fmt.Sprintf("pod %s was deleted", pod.Name)
		}
	}
	return ""
}

func nameOf(s seen) string {
	switch {
	case s.job != nil:
		return s.job.Name
	case s.secret != nil:
		return s.secret.Name
	}
	return "of the run"
}

// disruptionText returns why the cluster has ended a pod, else "".
func disruptionText(pods []corev1.Pod) string {
	for _, pod := range pods {
		if pod.Status.Reason == "Evicted" {
			return fmt.Sprintf("pod %s was evicted from node %s: %s", pod.Name, pod.Spec.NodeName, oneLine(pod.Status.Message))
		}
		for _, c := range pod.Status.Conditions {
			if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue {
				continue
			}
			what := "was terminated by the cluster"
			switch c.Reason {
			case "PreemptionByScheduler":
				what = "was preempted by a pod of higher priority"
			case "DeletionByTaintManager", "DeletionByPodGC":
				what = "was lost with its node"
			case "EvictionByEvictionAPI":
				what = "was evicted, for example because its node is drained"
			case "TerminationByKubelet":
				what = "was terminated by its node"
			}
			return fmt.Sprintf("pod %s on node %s %s: %s", pod.Name, pod.Spec.NodeName, what, reasonText(c.Reason, c.Message))
		}
	}
	return ""
}

// memoryText returns which container was out of memory, else "".
func memoryText(pods []corev1.Pod) string {
	for _, pod := range pods {
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if ended := status.State.Terminated; ended != nil && ended.Reason == "OOMKilled" {
				limit := "limits.memory of that container in " + podField
				if status.Name == mainContainer {
					limit = templateField + ".spec.resources.limits.memory"
				}
				return fmt.Sprintf("container %s of pod %s exceeded its memory limit%s (OOMKilled): raise %s",
					status.Name, pod.Name, limitText(pod.Spec, status.Name), limit)
			}
		}
	}
	return ""
}

// limitText returns how much memory a container may use, and nothing if its pod does not say so: then it is the limit of the
// whole pod, or of the node.
func limitText(spec corev1.PodSpec, name string) string {
	for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
		if limit := container.Resources.Limits.Memory(); container.Name == name && !limit.IsZero() {
			return " of " + limit.String()
		}
	}
	return ""
}

// jobText returns that Kubernetes has ended the Job at its deadline, else "".
func jobText(job *batchv1.Job) string {
	if job == nil {
		return ""
	}
	for _, c := range job.Status.Conditions {
		// The Job is marked before its pods have ended, and has failed when they have.
		ends := c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget
		if ends && c.Status == corev1.ConditionTrue && c.Reason == batchv1.JobReasonDeadlineExceeded {
			return fmt.Sprintf("Job %s reached its deadline: %s", job.Name, reasonText(c.Reason, c.Message))
		}
	}
	return ""
}

// exitText returns which container has failed, and how, else "".
func exitText(s seen) string {
	for _, pod := range s.pods {
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			ended := status.State.Terminated
			if ended == nil || ended.ExitCode == 0 {
				continue
			}
			if status.Name == mainContainer && ended.ExitCode == ExitUnreached {
				return fmt.Sprintf("pod %s could not reach the API server (exit code %d), so check that the network policies of the namespace allow it: %s",
					pod.Name, ExitUnreached, oneLine(ended.Message))
			}
			if text := ownExitText(pod.Name, status.Name, ended.ExitCode, causesOf(s)); text != "" {
				return text
			}
			if ended.Signal != 0 || ended.ExitCode > 128 {
				// Its message is the end of its log, which does not say why.
				return fmt.Sprintf("container %s of pod %s was killed: exit code %d", status.Name, pod.Name, ended.ExitCode)
			}
			return fmt.Sprintf("container %s of pod %s has ended with exit code %d: %s", status.Name, pod.Name, ended.ExitCode, reasonText(ended.Reason, ended.Message))
		}
	}
	return ""
}

// rejectedText returns that the node has rejected a pod, which then has no container that
// could have ended, else "".
func rejectedText(pods []corev1.Pod) string {
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
			return fmt.Sprintf("pod %s was terminated by node %s: %s", pod.Name, pod.Spec.NodeName, reasonText(pod.Status.Reason, pod.Status.Message))
		}
	}
	return ""
}

// ownExitText returns what an exit code of the runner means, "" for other codes.
func ownExitText(pod, container string, code int32, causes string) string {
	switch {
	case container != mainContainer:
		return ""
	case code == ExitNotReported:
		return fmt.Sprintf("pod %s could not write the result of the run (exit code %d): %s, or the API server was unreachable for too long", pod, code, causes)
	case code == ExitNotStarted:
		return fmt.Sprintf("pod %s did not start the run (exit code %d): %s, or another pod of the Job had started it", pod, code, causes)
	case code == ExitStopped:
		return fmt.Sprintf("pod %s was terminated before it started the run (exit code %d)", pod, code)
	}
	return ""
}

// causesOf returns why the runner could not write to the Secret.
func causesOf(s seen) string {
	if isImmutable(s.secret) {
		return fmt.Sprintf("Secret %s was made immutable", s.secret.Name)
	}
	return "the Secret, the Role, the RoleBinding or the ServiceAccount of the run was deleted, even if only briefly"
}

func isImmutable(secret *corev1.Secret) bool {
	return secret != nil && ptr.Deref(secret.Immutable, false)
}

// reasonText joins a message and a reason of Kubernetes.
func reasonText(reason, message string) string {
	message = oneLine(message)
	if message == "" {
		return reason
	}
	return message + " (" + reason + ")"
}

// maxQuoted bounds, in characters, messages of Kubernetes and of containers.
const maxQuoted = 500

func oneLine(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	if runes := []rune(line); len(runes) > maxQuoted {
		return string(runes[:maxQuoted]) + "..."
	}
	return line
}
