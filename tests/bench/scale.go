// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scaleSample is the measurement of the controller with a number of synced Stacks.
type scaleSample struct {
	stacks   int
	interval time.Duration
	// restarted is until it had looked at every Stack after a restart, and idle is
	// afterwards, with nothing to do but to look again at each interval.
	restarted, idle idleSample
	// resident set of the controller after that, and the largest since the restart.
	resident, peak int64
	// sourceToRun is from the new revision of a source to the start of the run, and
	// readyToRun from the Ready of a dependency to the start of its dependent's, in
	// seconds.
	sourceToRun, readyToRun []float64
}

// intervalFor has as many reconciles a second whatever the number of Stacks, so
// that what one of them costs can be compared. It is far shorter than anyone would
// set it, so that a minute has many.
func intervalFor(stacks int) time.Duration {
	const reconcilesPerSecond = 50
	return max(2*time.Second, time.Duration(stacks)*time.Second/reconcilesPerSecond)
}

// scaled measures with a number of Stacks, in a system of their own: what the
// controller holds in memory is then theirs.
func (b *bench) scaled(ctx context.Context, cli string, stacks int) (scaleSample, error) {
	name := fmt.Sprintf("scale-%d", stacks)
	recorder, err := newRecorder(filepath.Join(b.dir, "recorder-"+name), cli)
	if err != nil {
		return scaleSample{}, err
	}
	taken := scaleSample{stacks: stacks, interval: intervalFor(stacks)}
	err = b.with(ctx, name, recorder.dir, func(s sides) error {
		s.recorder = recorder
		if err := b.seed(ctx, s, stacks); err != nil {
			return fmt.Errorf("having %d Stacks in sync: %w", stacks, err)
		}
		if err := b.restartAndIdle(ctx, s, &taken); err != nil {
			return err
		}
		return b.latencies(ctx, s, &taken)
	})
	return taken, err
}

// seed leaves as many Stacks in sync as there are to be, and no controller: one is
// brought up by a run, and the others are made like it.
func (b *bench) seed(ctx context.Context, s sides, stacks int) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	b.say("making %d Stacks that are in sync", stacks)
	s.controller.interval = &metav1.Duration{Duration: intervalFor(stacks)}
	if err := s.controller.prepare(ctx, "idle", 1); err != nil {
		return err
	}
	if _, err := s.controller.create(ctx); err != nil {
		return err
	}
	if err := s.controller.system.Controller.Stop(); err != nil {
		return err
	}
	return s.controller.makeTwins(ctx, stacks)
}

// restartAndIdle starts the controller on Stacks that it has never seen, which is
// what a restart is to it, and then lets it be.
func (b *bench) restartAndIdle(ctx context.Context, s sides, taken *scaleSample) error {
	restarted, err := b.restart(ctx, &s)
	if err != nil {
		return fmt.Errorf("restarting the controller: %w", err)
	}
	if restarted.processes > 0 || restarted.rewritten > 0 {
		return fmt.Errorf("the controller does not take the Stacks for in sync: after its start it ran %d processes of Pulumi and wrote %d Stacks",
			restarted.processes, restarted.rewritten)
	}
	taken.restarted = restarted
	if err := b.awaitQuiet(ctx, s.meter); err != nil {
		return err
	}
	b.say("watching the controller for %s with nothing to do", b.idle)
	if taken.idle, err = b.watchIdle(ctx, s); err != nil {
		return fmt.Errorf("watching the idle controller: %w", err)
	}
	if sent := unlisted(taken.idle.requests); sent > 0 {
		return fmt.Errorf("the controller sent %.0f requests to the API server with nothing to do: %v", sent, taken.idle.requests)
	}
	pid := s.controller.system.Controller.PID()
	var errPeak error
	taken.resident, err = readResident(pid)
	taken.peak, errPeak = readPeak(pid)
	return errors.Join(err, errPeak)
}

// latencies measures with the idle Stacks in the same controller.
func (b *bench) latencies(ctx context.Context, s sides, taken *scaleSample) error {
	for _, latency := range []struct {
		name    string
		measure func(ctx context.Context, samples int) ([]float64, error)
		result  *[]float64
	}{
		{"a new revision of their source", s.followSource, &taken.sourceToRun},
		{"the Ready of their dependency", s.followDependencies, &taken.readyToRun},
	} {
		b.say("timing the start of %d runs after %s", b.samples, latency.name)
		limited, cancel := context.WithTimeout(ctx, b.timeout)
		seconds, err := latency.measure(limited, b.samples)
		cancel()
		if err != nil {
			return fmt.Errorf("timing the start of runs after %s: %w", latency.name, err)
		}
		*latency.result = seconds
	}
	return nil
}
