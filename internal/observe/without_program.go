// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

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
func (o *Observer) withoutProgram(ctx context.Context, stack *v1.Stack, seen *Observation, name grammar.StackName, why error) error {
	if !seen.Interrupted || stack.Spec.RunProgram || problemOf(why) == nil {
		return why
	}
	known, err := o.observeState(ctx, stack, seen, name)
	if err != nil && problemOf(err) == nil {
		return err
	}
	if seen.Recoverable = known && err == nil; seen.Recoverable {
		if seen.Program.Artifact == nil {
			seen.Program.Unavailable = why.Error()
		}
		if err := o.digestRun(stack, seen, string(run.Recover)); err != nil {
			return err
		}
	}
	return why
}

// offerProgram gives the program of a source to a destroy that works from the state: only
// its runner sees whether the state has resources of a dynamic provider, which needs it.
// The destroy waits for no program, and its digest does not depend on it.
func (o *Observer) offerProgram(ctx context.Context, stack *v1.Stack, seen *Observation) {
	var found Program
	var err error
	switch {
	case stack.Spec.ProgramRef != nil:
		return // Pulumi YAML has no dynamic providers
	case stack.Spec.ProjectRepo != "":
		found, err = o.keptProgram(ctx, stack)
	case stack.Spec.FluxSource != nil:
		found, err = o.sourceProgram(ctx, stack)
	}
	seen.Program.Artifact = found.Artifact
	if err != nil {
		seen.Program.Unavailable = err.Error()
	}
}

// keptProgram finds the program of a projectRepo as it was last fetched, and writes
// nothing.
func (o *Observer) keptProgram(ctx context.Context, stack *v1.Stack) (Program, error) {
	if err := o.watch(sourcev1.GitRepositoryKind); err != nil {
		return Program{}, err
	}
	key := client.ObjectKey{Namespace: stack.Namespace, Name: gitsource.Name(stack.Name)}
	repo := &sourcev1.GitRepository{}
	if _, err := gitsource.ReadOwned(ctx, o.Cached, stack, key, repo); err != nil {
		return Program{}, err
	}
	artifact := repo.GetArtifact()
	if artifact == nil {
		return Program{}, fmt.Errorf("GitRepository %s has no artifact or does not exist: set spec.runProgram to create it again", key)
	}
	return Program{Program: run.Program{Artifact: &run.Artifact{URL: artifact.URL, Digest: artifact.Digest, Dir: stack.Spec.RepoDir}}}, nil
}
