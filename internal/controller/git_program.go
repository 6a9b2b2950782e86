// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// gitProgram finds the program of a projectRepo. That takes a GitRepository to fetch it,
// so this is the one part of the observation that writes, and only where the objects of
// the Stack differ.
func (r *StackReconciler) gitProgram(ctx context.Context, stack *v1.Stack) (program, error) {
	if err := gitsource.CheckOutputs(stack); err != nil {
		return program{}, err
	}
	remote, err := gitsource.ParseURL(stack.Spec.ProjectRepo)
	if err != nil {
		return program{}, err
	}
	values := inputs.NewValues(r.APIReader, stack.Namespace, r.inputOptions())
	credentials, err := gitsource.Resolve(ctx, values, stack.Spec.GitSource, remote)
	if err != nil {
		return program{}, err
	}
	if err := r.watches.ensure(sourcev1.GitRepositoryKind); err != nil {
		return program{}, err
	}
	repo, err := r.keepGit(ctx, stack, gitsource.Spec(stack, remote, credentials), credentials.Data)
	if err != nil {
		return program{}, err
	}
	found, err := source.OfKept(repo, credentials.Mask)
	if err != nil {
		return program{}, err
	}
	return program{
		Program:  run.Program{Artifact: &run.Artifact{URL: found.URL, Digest: found.Digest, Dir: stack.Spec.RepoDir}},
		Revision: found.Revision,
		Digest:   found.Digest,
	}, nil
}

// inputOptions returns the rules for what a Stack may refer to.
func (r *StackReconciler) inputOptions() inputs.Options {
	return inputs.Options{NoCrossNamespaceRefs: r.NoCrossNamespaceRefs, Controller: r.ControllerRefs}
}

const secretKind = "Secret"

// notOursError is an object that has the name of one of ours but is not owned by the
// Stack.
type notOursError struct{ kind, namespace, name, stack string }

func (e *notOursError) Error() string {
	if e.kind == secretKind {
		return fmt.Sprintf("Secret %s/%s is in the way: Stack %s keeps the credentials for spec.projectRepo in one of that name, and does not own this one. "+
			"Delete it; credentials that are in it belong into a Secret of another name, which spec.gitAuth refers to", e.namespace, e.name, e.stack)
	}
	return fmt.Sprintf("%s %s/%s is in the way: Stack %s needs one of that name for spec.projectRepo, and does not own this one. "+
		"Delete or rename it, or use it in spec.fluxSource", e.kind, e.namespace, e.name, e.stack)
}

// refusedError is an object that the API server rejects.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }
