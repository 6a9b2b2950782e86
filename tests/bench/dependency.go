// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// followDependencies makes a chain of new Stacks, each of which depends on the one
// before, and returns how long after the Ready of a dependency a watch showed the
// run of its dependent, in seconds. The last is made first, so that all of them
// are waiting when the first begins.
func (s sides) followDependencies(ctx context.Context, samples int) ([]float64, error) {
	side := &controllerSide{system: s.controller.system, dir: s.controller.dir}
	if err := side.prepare(ctx, "chain", samples+1); err != nil {
		return nil, err
	}
	seen := newMoments()
	_, err := side.changeAndAwait(ctx, func(stack *v1.Stack) bool {
		seen.take(stack, time.Now())
		return settled(stack)
	}, func() error {
		for n := samples; n >= 0; n-- {
			stack := side.stack(n)
			if n > 0 {
				stack.Spec.DependsOn = []v1.DependencyReference{{Name: stackName(n - 1)}}
			}
			if err := side.system.Create(ctx, stack); err != nil {
				return fmt.Errorf("making Stack %s: %w", stack.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return seen.latencies(samples)
}

// moments are when Stacks were first seen to run, and to be Ready.
type moments struct{ started, ready map[string]time.Time }

func newMoments() moments {
	return moments{started: map[string]time.Time{}, ready: map[string]time.Time{}}
}

func (m moments) take(stack *v1.Stack, now time.Time) {
	if _, known := m.started[stack.Name]; !known && stack.Status.Run != nil {
		m.started[stack.Name] = now
	}
	if _, known := m.ready[stack.Name]; !known && apimeta.IsStatusConditionTrue(stack.Status.Conditions, meta.ReadyCondition) {
		m.ready[stack.Name] = now
	}
}

// latencies are those of all links of a chain, in seconds. A Stack that did not
// wait for its dependency is an error: then nothing was measured.
func (m moments) latencies(links int) ([]float64, error) {
	var latencies []float64
	for n := range links {
		ready, isReady := m.ready[stackName(n)]
		started, hasStarted := m.started[stackName(n+1)]
		switch {
		case !isReady || !hasStarted:
			return nil, fmt.Errorf("%s was not seen to be Ready, or no run of %s was seen", stackName(n), stackName(n+1))
		case started.Before(ready):
			return nil, fmt.Errorf("%s was run before its dependency %s was Ready", stackName(n+1), stackName(n))
		}
		latencies = append(latencies, started.Sub(ready).Seconds())
	}
	return latencies, nil
}
