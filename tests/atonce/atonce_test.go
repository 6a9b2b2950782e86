// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package atonce

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMost(t *testing.T) {
	at := func(second int) metav1.Time { return metav1.Unix(int64(second), 0) }
	pod := func(begin, end int, phase ...corev1.PodPhase) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(begin)}, Status: corev1.PodStatus{
			Phase: append(phase, corev1.PodSucceeded)[0],
			ContainerStatuses: []corev1.ContainerStatus{
				{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(end)}}},
			},
		}}
	}
	for name, tt := range map[string]struct {
		pods []corev1.Pod
		want int
	}{
		"none":                   {nil, 0},
		"one":                    {[]corev1.Pod{pod(1, 5)}, 1},
		"one after the other":    {[]corev1.Pod{pod(1, 5), pod(5, 9), pod(9, 12)}, 1},
		"two of three":           {[]corev1.Pod{pod(1, 5), pod(4, 9), pod(5, 12)}, 2},
		"one that has not ended": {[]corev1.Pod{pod(1, 2, corev1.PodRunning), pod(4, 9)}, 2},
		"one within another":     {[]corev1.Pod{pod(1, 9), pod(2, 3), pod(4, 5)}, 2},
		"all at the same time":   {[]corev1.Pod{pod(1, 9), pod(1, 9), pod(1, 9)}, 3},
		"not sorted by creation": {[]corev1.Pod{pod(5, 9), pod(1, 6)}, 2},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(Most(tt.pods)).To(Equal(tt.want)) })
	}
}
