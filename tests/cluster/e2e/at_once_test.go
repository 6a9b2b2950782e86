// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mostAtOnce is how many pods there were at a time, of those that have ended: from when each was created until the last of its
// containers had ended. Kubernetes tells both in whole seconds, so that it may be more, and not less.
func mostAtOnce(pods []corev1.Pod) int {
	type change struct {
		at   time.Time
		more int
	}
	var changes []change
	for _, pod := range pods {
		var end time.Time
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if ended := status.State.Terminated; ended != nil && ended.FinishedAt.After(end) {
				end = ended.FinishedAt.Time
			}
		}
		changes = append(changes, change{pod.CreationTimestamp.Time, 1})
		if !end.IsZero() {
			changes = append(changes, change{end, -1})
		}
	}
	// One that ends in the second in which another begins may have ended before it.
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.more, b.more)) })
	most, now := 0, 0
	for _, c := range changes {
		now += c.more
		most = max(most, now)
	}
	return most
}

func TestHowManyPodsThereWereAtATime(t *testing.T) {
	at := func(second int) metav1.Time { return metav1.Unix(int64(second), 0) }
	pod := func(begin, end int) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(begin)}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(end)}}},
		}}}
	}
	for name, tt := range map[string]struct {
		pods []corev1.Pod
		want int
	}{
		"none":                  {nil, 0},
		"one":                   {[]corev1.Pod{pod(1, 5)}, 1},
		"one after the other":   {[]corev1.Pod{pod(1, 5), pod(5, 9), pod(9, 12)}, 1},
		"two of three":          {[]corev1.Pod{pod(1, 5), pod(4, 9), pod(5, 12)}, 2},
		"one that has no end":   {[]corev1.Pod{{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(1)}}, pod(4, 9)}, 2},
		"one within another":    {[]corev1.Pod{pod(1, 9), pod(2, 3), pod(4, 5)}, 2},
		"all at the same time":  {[]corev1.Pod{pod(1, 9), pod(1, 9), pod(1, 9)}, 3},
		"out of order, as list": {[]corev1.Pod{pod(5, 9), pod(1, 6)}, 2},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(mostAtOnce(tt.pods)).To(Equal(tt.want)) })
	}
}
