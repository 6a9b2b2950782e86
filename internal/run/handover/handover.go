// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package handover ends the runs of a controller that executed them elsewhere, after a
// change of --runner.
package handover

import (
	"errors"
	"reflect"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Runner executes runs as its Runner does, and ends those that only Earlier knows.
type Runner struct {
	run.Runner
	// Earlier starts no runs.
	Earlier run.Runs
}

// Look implements run.Runs.
func (r Runner) Look(of run.Ref) (run.Phase, *run.Result) {
	if phase, result := r.Runner.Look(of); phase != run.Unknown {
		return phase, result
	}
	return r.Earlier.Look(of)
}

// Report implements run.Runs.
func (r Runner) Report(of run.Ref) run.Report {
	if report := r.Runner.Report(of); !reflect.ValueOf(report).IsZero() {
		return report
	}
	return r.Earlier.Report(of)
}

// Cancel implements run.Runs.
func (r Runner) Cancel(of run.Ref, now bool) error {
	return errors.Join(r.Runner.Cancel(of, now), r.Earlier.Cancel(of, now))
}

// Forget implements run.Runs.
func (r Runner) Forget(of run.Ref) error {
	return errors.Join(r.Runner.Forget(of), r.Earlier.Forget(of))
}
