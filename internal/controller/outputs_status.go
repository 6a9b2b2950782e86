// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// The functions in this file describe the state of the Secret with the outputs of a
// Stack. They read nothing but their arguments.

// wantedOutputs returns the outputs that a run has to read.
func wantedOutputs(stack *v1.Stack, seen *observe.Observation, operation run.Operation) *run.WantedOutputs {
	if !run.KindOf(operation).ReadsOutputs || !stackstatus.WritesOutputs(stack) || seen.Outputs.Blocked != "" {
		return nil
	}
	return &run.WantedOutputs{Keys: slices.Clone(stack.Spec.WriteOutputsToSecret.Keys)}
}
