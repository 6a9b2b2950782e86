// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
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
		if seen.program.Artifact == nil {
			seen.program.Unavailable = why.Error()
		}
		if err := r.digestRun(stack, seen, string(run.Recover)); err != nil {
			return err
		}
	}
	return why
}

// offerProgram gives the program of a source to a destroy that works from the state: only
// its runner sees whether the state has resources of a dynamic provider, which needs it.
// The destroy waits for no program, and its digest does not depend on it.
func (r *StackReconciler) offerProgram(ctx context.Context, stack *v1.Stack, seen *observed) {
	var found program
	var err error
	switch {
	case stack.Spec.ProgramRef != nil:
		return // Pulumi YAML has no dynamic providers
	case stack.Spec.ProjectRepo != "":
		found, err = r.keptProgram(ctx, stack)
	case stack.Spec.FluxSource != nil:
		found, err = r.sourceProgram(ctx, stack)
	}
	seen.program.Artifact = found.Artifact
	if err != nil {
		seen.program.Unavailable = err.Error()
	}
}

// keptProgram finds the program of a projectRepo as it was last fetched, and writes
// nothing.
func (r *StackReconciler) keptProgram(ctx context.Context, stack *v1.Stack) (program, error) {
	if err := r.watches.ensure(sourcev1.GitRepositoryKind); err != nil {
		return program{}, err
	}
	key := client.ObjectKey{Namespace: stack.Namespace, Name: gitsource.Name(stack.Name)}
	repo := &sourcev1.GitRepository{}
	if _, err := gitsource.ReadOwned(ctx, r.Client, stack, key, repo); err != nil {
		return program{}, err
	}
	artifact := repo.GetArtifact()
	if artifact == nil {
		return program{}, fmt.Errorf("GitRepository %s has no artifact, or is gone: it is created again with spec.runProgram", key)
	}
	return program{Program: run.Program{Artifact: &run.Artifact{URL: artifact.URL, Digest: artifact.Digest, Dir: stack.Spec.RepoDir}}}, nil
}
