// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package handover ends the runs of a controller that executed them elsewhere, after a
// change of --runner.
package handover

import (
	"cmp"
	"errors"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Earlier is the part of a run.Runner that ends runs. It starts none.
type Earlier interface {
	Look(of run.Ref) (run.Phase, *run.Result)
	Cancel(id string, now bool) error
	Progress(id string) run.Progress
	UnknownCreates(id string) []string
	Found(id string) run.Found
	Forget(id string) error
}

// Runner executes runs as its Runner does, and ends those that only Earlier knows.
type Runner struct {
	run.Runner
	Earlier Earlier
}

// Look implements run.Runner.
func (r Runner) Look(of run.Ref) (run.Phase, *run.Result) {
	if phase, result := r.Runner.Look(of); phase != run.Unknown {
		return phase, result
	}
	return r.Earlier.Look(of)
}

// Cancel implements run.Runner.
func (r Runner) Cancel(id string, now bool) error {
	return errors.Join(r.Runner.Cancel(id, now), r.Earlier.Cancel(id, now))
}

// Progress implements run.Runner.
func (r Runner) Progress(id string) run.Progress {
	return cmp.Or(r.Runner.Progress(id), r.Earlier.Progress(id))
}

// UnknownCreates implements run.Runner.
func (r Runner) UnknownCreates(id string) []string {
	return append(r.Runner.UnknownCreates(id), r.Earlier.UnknownCreates(id)...)
}

// Found implements run.Runner.
func (r Runner) Found(id string) run.Found {
	return cmp.Or(r.Runner.Found(id), r.Earlier.Found(id))
}

// Forget implements run.Runner.
func (r Runner) Forget(id string) error {
	return errors.Join(r.Runner.Forget(id), r.Earlier.Forget(id))
}
