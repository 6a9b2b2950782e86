// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"errors"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/drift"
)

// validateDrift checks when a Stack is checked for drift, and what is ignored: the API server
// knows neither the form of a schedule nor that of a path.
func validateDrift(spec v1.StackSpec) error {
	of := spec.Drift
	if of == nil {
		return nil
	}
	switch {
	case (of.Schedule != "") == (of.Interval != nil):
		return &InvalidError{"spec.drift", "exactly one of schedule and interval is required"}
	case of.TimeZone != "" && of.Schedule == "":
		return &InvalidError{"spec.drift.timeZone", "belongs to schedule: remove it, or use schedule in place of interval"}
	}
	switch of.Mode {
	case "", v1.DriftReport, v1.DriftPropose, v1.DriftCorrect:
	default:
		return &InvalidError{"spec.drift.mode", fmt.Sprintf("is %q, but must be Report, Propose or Correct", of.Mode)}
	}
	_, err := drift.NewSchedule(of, "")
	if err == nil {
		_, err = drift.NewIgnore(of.Ignore)
	}
	if wrong, ok := errors.AsType[*drift.FieldError](err); ok {
		return &InvalidError{wrong.Field, wrong.Problem}
	}
	return err
}
