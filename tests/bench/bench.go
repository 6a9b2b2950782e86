// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
	"github.com/flux-pulumi/pulumi-controller/tests/toolchain"
)

// bench is one run of the benchmark.
type bench struct {
	options
	// dir is where everything is kept.
	dir string
	// say logs how far it is.
	say func(format string, args ...any)
}

// measure compares, then looks at the controller with many Stacks in sync, and then compares programs in languages.
func (b *bench) measure(ctx context.Context) (*report, error) {
	cli, err := process.FindBin(cliName)
	if err != nil {
		return nil, err
	}
	r := &report{options: b.options}
	if r.machine, err = describeMachine(ctx, cli); err != nil {
		return nil, err
	}
	r.loadBefore = r.machine.load
	if b.rounds > 0 {
		if err := b.compare(ctx, cli, r); err != nil {
			return nil, err
		}
	}
	for _, stacks := range b.scale {
		taken, err := b.scaled(ctx, cli, stacks)
		if err != nil {
			return nil, fmt.Errorf("with %d Stacks: %w", stacks, err)
		}
		r.scales = append(r.scales, taken)
	}
	if b.awaited > 0 {
		if r.waits, err = b.waiting(ctx, cli, b.awaited); err != nil {
			return nil, fmt.Errorf("with plans that wait: %w", err)
		}
	}
	return r, b.measureLanguages(ctx, r)
}

// compare times the rounds first, with nothing between the controller and the
// CLI. What is counted is counted afterwards, through a recorder that costs time.
func (b *bench) compare(ctx context.Context, cli string, r *report) error {
	if err := b.timed(ctx, filepath.Dir(cli), r); err != nil {
		return err
	}
	return b.counted(ctx, cli, r)
}

// timed fills in what is timed.
func (b *bench) timed(ctx context.Context, binDir string, r *report) error {
	return b.with(ctx, "timed", binDir, func(s sides) error {
		b.say("warming up")
		if _, err := b.round(ctx, s, "warm", b.parallel); err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
		if err := b.timedRounds(ctx, s, r); err != nil {
			return err
		}
		var err error
		r.controllerPeak, err = readPeak(s.controller.system.Controller.PID())
		return err
	})
}

// timedRounds does rounds until each phase was measured as often as is wanted
// with nothing else at work on the machine, or until it has tried three times as
// often. Whether a phase of a round counts depends on what others did, and not on
// its result.
func (b *bench) timedRounds(ctx context.Context, s sides, r *report) error {
	for n := 1; r.missing() > 0 && n <= 3*b.rounds; n++ {
		round, err := b.round(ctx, s, fmt.Sprintf("round%d", n), b.stacks)
		if err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
		r.add(round)
	}
	r.makeDo()
	return nil
}

// counted fills in what is counted.
func (b *bench) counted(ctx context.Context, cli string, r *report) error {
	recorder, err := newRecorder(filepath.Join(b.dir, "recorder"), cli)
	if err != nil {
		return err
	}
	return b.with(ctx, "counted", recorder.dir, func(s sides) error {
		b.say("counting processes")
		s.recorder = recorder
		round, err := b.round(ctx, s, "counted", b.stacks)
		if err != nil {
			return fmt.Errorf("counting processes: %w", err)
		}
		if err := sameEnvironment(round); err != nil {
			return err
		}
		r.counted = round
		return nil
	})
}

// sides are the two that are compared, and what they are measured with.
type sides struct {
	bare       *bareSide
	controller *controllerSide
	meter      *meter
	// recorder is set where processes are counted.
	recorder *recorder
}

// with runs do with both sides ready, and ends all processes after it.
func (b *bench) with(ctx context.Context, name, pulumiDir string, do func(sides) error) (err error) {
	dir := filepath.Join(b.dir, name)
	for _, path := range []string{dir, filepath.Join(dir, "system"), filepath.Join(dir, "bare")} {
		if err := os.Mkdir(path, 0o700); err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
	}
	defer func() { err = errors.Join(err, endOrphans()) }()
	b.say("starting the system (%s)", name)
	running, err := system.Start(ctx, system.Options{
		Dir:            filepath.Join(dir, "system"),
		ControllerArgs: []string{fmt.Sprintf("--concurrent-runs=%d", b.parallel)},
		PulumiDir:      pulumiDir,
		WithoutSources: true,
		ReadPaths:      toolchain.Installed(),
		WritePaths:     b.writePaths(pulumiDir),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	meter, err := newMeter(running.Controller.PID())
	if err != nil {
		return err
	}
	return do(sides{
		bare:       &bareSide{dir: filepath.Join(dir, "bare"), bin: pulumiDir, parallel: b.parallel},
		controller: &controllerSide{system: running, dir: dir},
		meter:      meter,
	})
}

// writePaths is what programs may write beside what any may: what they have compiled, and the notes of a recorder in the place
// of Pulumi.
func (b *bench) writePaths(pulumiDir string) []string {
	paths := []string{toolchain.GoEnvironment()["GOCACHE"]}
	if filepath.Dir(pulumiDir) == b.dir {
		paths = append(paths, pulumiDir)
	}
	return paths
}

// round has each side do both phases: bare Pulumi first, then the controller.
func (b *bench) round(ctx context.Context, s sides, name string, stacks int) (round, error) {
	var r round
	if err := b.clear(ctx, s); err != nil {
		return r, err
	}
	for _, side := range []struct {
		name   string
		work   workload
		result func(phase int) *sample
	}{
		{"bare Pulumi", s.bare, func(phase int) *sample { return &r[phase].bare }},
		{"controller", s.controller, func(phase int) *sample { return &r[phase].controller }},
	} {
		if err := side.work.prepare(ctx, name, stacks); err != nil {
			return r, fmt.Errorf("%s: %w", side.name, err)
		}
		if err := b.awaitQuiet(ctx, s.meter); err != nil {
			return r, err
		}
		for phase, do := range []func(context.Context) (span, error){created: side.work.create, updated: side.work.update} {
			taken, err := b.phase(ctx, s, do)
			if err != nil {
				return r, fmt.Errorf("%s: %w", side.name, err)
			}
			*side.result(phase) = taken
			b.say("%s, %s, %d stacks %s: %.2f s", name, side.name, stacks, phaseNames()[phase], taken.wall.Seconds())
		}
	}
	return r, nil
}

// workload is one of the two sides.
type workload interface {
	prepare(ctx context.Context, round string, stacks int) error
	create(ctx context.Context) (span, error)
	update(ctx context.Context) (span, error)
}

// span is from the first act of a phase to the moment when the last stack was
// done. What goes before and after, such as opening a watch, is not in it.
type span struct{ began, done time.Time }

// clear makes the rounds start alike: no Stack is left of the one before.
func (b *bench) clear(ctx context.Context, s sides) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	return s.controller.clear(ctx)
}

// phase measures one phase of one side, and counts where things are counted.
func (b *bench) phase(ctx context.Context, s sides, do func(context.Context) (span, error)) (sample, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	if s.recorder == nil {
		return timePhase(ctx, s, do)
	}
	before, err := s.controller.requests(ctx)
	if err != nil {
		return sample{}, err
	}
	taken, err := timePhase(ctx, s, do)
	if err != nil {
		return sample{}, err
	}
	after, err := s.controller.requests(ctx)
	if err != nil {
		return sample{}, err
	}
	taken.requests = grown(before, after)
	taken.processes, err = s.recorder.take()
	return taken, err
}

func timePhase(ctx context.Context, s sides, do func(context.Context) (span, error)) (sample, error) {
	before, err := s.meter.read()
	if err != nil {
		return sample{}, err
	}
	measured, err := do(ctx)
	if err != nil {
		return sample{}, err
	}
	// CPU is read when the last process has been reaped, and not before.
	orphans, err := reapOrphans(ctx, s.meter.known())
	if err != nil {
		return sample{}, err
	}
	after, err := s.meter.read()
	if err != nil {
		return sample{}, err
	}
	return sample{wall: measured.done.Sub(measured.began), cpu: after.since(before), orphans: orphans}, nil
}
