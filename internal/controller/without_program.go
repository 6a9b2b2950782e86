// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// withoutProgram finds out whether a recovery is possible although the program was not
// found, or its config could not be resolved. It returns that error.
func (r *StackReconciler) withoutProgram(ctx context.Context, stack *v1.Stack, seen *observed, name grammar.StackName, why error) error {
	if !seen.Interrupted || stack.Spec.RunProgram || problemOf(why) == nil {
		return why
	}
	known, err := r.observeState(ctx, stack, seen, name)
	if err != nil && problemOf(err) == nil {
		return err
	}
	if seen.Recoverable = known && err == nil; seen.Recoverable {
		if err := r.digestRun(stack, seen, string(run.Recover)); err != nil {
			return err
		}
	}
	return why
}
