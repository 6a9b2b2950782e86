// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNoIntervalReconcilesWithoutEnd(t *testing.T) {
	of := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	for name, test := range map[string]struct {
		interval, retry         *metav1.Duration
		wantInterval, wantRetry time.Duration
	}{
		"none":             {nil, nil, DefaultInterval, DefaultInterval},
		"the interval":     {of(time.Minute), nil, time.Minute, time.Minute},
		"both":             {of(time.Minute), of(time.Hour), time.Minute, time.Hour},
		"zero":             {of(0), of(0), DefaultInterval, DefaultInterval},
		"below zero":       {of(-time.Minute), of(-1), DefaultInterval, DefaultInterval},
		"hardly above":     {of(1), of(time.Millisecond), MinInterval, MinInterval},
		"zero for retries": {of(time.Minute), of(0), time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &Stack{Spec: StackSpec{Interval: test.interval, RetryInterval: test.retry}}
			if got := stack.GetInterval(); got != test.wantInterval {
				t.Errorf("interval %s, not %s", got, test.wantInterval)
			}
			if got := stack.GetRetryInterval(); got != test.wantRetry {
				t.Errorf("retry interval %s, not %s", got, test.wantRetry)
			}
		})
	}
}
