// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// observeState resolves what a run needs that works from the state alone: the variables,
// without the config, and the project. It returns false if the project is not known.
func (r *StackReconciler) observeState(ctx context.Context, stack *v1.Stack, seen *observed, name grammar.StackName) (bool, error) {
	envOnly := stack.DeepCopy()
	envOnly.Spec.Config, envOnly.Spec.ConfigRef, envOnly.Spec.SecretsRef, envOnly.Spec.Secrets = nil, nil, nil, nil
	seen.program.Declared = nil // the state needs no config
	if err := r.resolve(ctx, envOnly, seen); err != nil {
		return false, err
	}
	if info := stack.Status.ProjectInfo; info != nil && info.Name != "" {
		seen.program.Project = run.Project{Name: info.Name, Runtime: info.Runtime}
		return true, nil
	}
	seen.program.Project = run.Project{Name: name.Project}
	return name.Project != "", nil
}

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
