// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestIntervalsHaveAMinimum(t *testing.T) {
	of := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	for name, test := range map[string]struct {
		interval, retry         *metav1.Duration
		wantInterval, wantRetry time.Duration
	}{
		"none":                {nil, nil, DefaultInterval, DefaultInterval},
		"only the interval":   {of(time.Minute), nil, time.Minute, time.Minute},
		"both":                {of(time.Minute), of(time.Hour), time.Minute, time.Hour},
		"zero":                {of(0), of(0), DefaultInterval, DefaultInterval},
		"negative":            {of(-time.Minute), of(-1), DefaultInterval, DefaultInterval},
		"below the minimum":   {of(1), of(time.Millisecond), MinInterval, MinInterval},
		"zero retry interval": {of(time.Minute), of(0), time.Minute, time.Minute},
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

func TestSecondsOfThePulumiOperator(t *testing.T) {
	of := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	for name, test := range map[string]struct {
		spec                    StackSpec
		wantInterval, wantRetry time.Duration
	}{
		"resync":                        {StackSpec{ResyncFrequencySeconds: 90}, 90 * time.Second, 90 * time.Second},
		"less than a minute":            {StackSpec{ResyncFrequencySeconds: 5}, time.Minute, time.Minute},
		"negative":                      {StackSpec{ResyncFrequencySeconds: -5}, DefaultInterval, DefaultInterval},
		"more than a duration holds":    {StackSpec{ResyncFrequencySeconds: 1 << 62}, 315360000 * time.Second, 315360000 * time.Second},
		"an interval takes precedence":  {StackSpec{ResyncFrequencySeconds: 90, Interval: of(time.Hour)}, time.Hour, time.Hour},
		"a zero interval does not":      {StackSpec{ResyncFrequencySeconds: 90, Interval: of(0)}, 90 * time.Second, 90 * time.Second},
		"a bound on the default":        {StackSpec{RetryMaxBackoffDurationSeconds: 30}, DefaultInterval, 30 * time.Second},
		"a bound on the retry interval": {StackSpec{RetryInterval: of(time.Hour), RetryMaxBackoffDurationSeconds: 30}, DefaultInterval, 30 * time.Second},
		"a bound that is not reached":   {StackSpec{RetryInterval: of(time.Minute), RetryMaxBackoffDurationSeconds: 3600}, DefaultInterval, time.Minute},
		"a negative bound":              {StackSpec{RetryMaxBackoffDurationSeconds: -1}, DefaultInterval, DefaultInterval},
		"a bound below the minimum":     {StackSpec{RetryInterval: of(1), RetryMaxBackoffDurationSeconds: 1}, DefaultInterval, MinInterval},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &Stack{Spec: test.spec}
			if got := stack.GetInterval(); got != test.wantInterval {
				t.Errorf("interval %s, not %s", got, test.wantInterval)
			}
			if got := stack.GetRetryInterval(); got != test.wantRetry {
				t.Errorf("retry interval %s, not %s", got, test.wantRetry)
			}
		})
	}
}
