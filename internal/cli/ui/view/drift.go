// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// Drift is what the last check has found to be changed outside of Pulumi.
type Drift struct {
	// Result in words.
	Result string `json:"result"`
	// Message says why the check has failed, or what has become of the correction.
	Message       string `json:"message,omitempty"`
	Changed       int    `json:"changed,omitempty"`
	Deleted       int    `json:"deleted,omitempty"`
	Ignored       int    `json:"ignored,omitempty"`
	LastCheckedAt string `json:"lastCheckedAt,omitempty"`
	Since         string `json:"since,omitempty"`
}

// DriftAnswer has the drift of each resource as a plan: what is old is in the state, and what is new is there.
type DriftAnswer struct {
	Plan    *Plan  `json:"plan,omitempty"`
	Message string `json:"message,omitempty"`
}

// driftOf returns the result of the last check, nil if there was none.
func driftOf(stack *v1.Stack) *Drift {
	of := stack.Status.Drift
	if of == nil || of.Result == "" {
		return nil
	}
	shown := &Drift{Result: words.Drift(of), Message: text(of.Message), Changed: int(of.Changed), Deleted: int(of.Deleted), Ignored: int(of.Ignored),
		LastCheckedAt: stamp(of.LastCheckedAt), Since: stamp(of.Since)}
	if of.Result == v1.DriftCheckFailedReason {
		shown.Result = "The last check for drift has failed"
	}
	return shown
}

// DriftAnswerOf returns the drift as it was read, nil if there is none or it could not be read, for which why says the reason.
func DriftAnswerOf(found *plan.Plan, why string) DriftAnswer {
	return DriftAnswer{Plan: done(found), Message: text(why)}
}
