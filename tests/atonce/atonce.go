// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package atonce counts how many pods existed at the same time, from the timestamps in their metadata and status.
// Unlike polling, it cannot miss a short-lived pod.
package atonce

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Most returns the largest number of pods that existed at the same time. A pod counts from its creation until its last container
// terminates, or indefinitely if it has not ended. Both timestamps are truncated to seconds. A pod that ends in the second in which
// another is created counts as ending first, so an overlap of less than a second may be missed, but none is invented.
func Most(pods []corev1.Pod) int {
	type change struct {
		at   time.Time
		more int
	}
	var changes []change
	for _, pod := range pods {
		changes = append(changes, change{pod.CreationTimestamp.Time, 1})
		if end := endOf(pod); !end.IsZero() {
			changes = append(changes, change{end, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.more, b.more)) })
	most, now := 0, 0
	for _, c := range changes {
		now += c.more
		most = max(most, now)
	}
	return most
}

// endOf returns when the pod's last container terminated, or zero if the pod has not ended.
func endOf(pod corev1.Pod) (end time.Time) {
	if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		return end
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if ended := status.State.Terminated; ended != nil && ended.FinishedAt.After(end) {
			end = ended.FinishedAt.Time
		}
	}
	return end
}
