// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// The parts of a Stack that the cache of results is about.
const (
	aboutInputs  = "inputs"
	aboutOutputs = "outputs"
	aboutGit     = "git"
)

// observeForRun observes a Stack. If a run is due, it reads the values for it, which are not
// kept, and whatever has changed since the watch delivered the last version of an object.
func (r *StackReconciler) observeForRun(ctx context.Context, stack *v1.Stack) (*observed, error) {
	seen, err := r.observe(ctx, stack)
	if err == nil && decide.Next(seen.Observation).Action == decide.KeepGitObjects {
		seen, err = r.observeAfter(ctx, stack, &upkept{r.keepGitObjects(ctx, stack, seen.upkeep)})
	}
	if err != nil || seen.inputs != nil || seen.inputsDigest == "" {
		return seen, err
	}
	switch decide.Next(seen.Observation).Action {
	case decide.Start, decide.PreviewOnRequest:
		r.results.Drop(stack.UID, aboutInputs)
		return r.observeAfter(ctx, stack, seen.upkept)
	}
	return seen, nil
}

// resolveChanged resolves the values that the spec asks for, unless they are known to be
// those of an earlier reconcile.
func (r *StackReconciler) resolveChanged(ctx context.Context, stack *v1.Stack, seen *observed) error {
	basis := r.inputsBasis(ctx, stack, seen)
	if result, ok := r.results.Get(stack.UID, aboutInputs, basis); ok {
		seen.inputsDigest, seen.account = result.Digest, result.Account
		return nil
	}
	if err := r.resolve(ctx, stack, seen); err != nil {
		return err
	}
	r.results.Keep(stack.UID, aboutInputs, basis, observe.Result{Digest: seen.inputsDigest, Account: seen.account})
	return nil
}

// inputsBasis returns what the values of a Stack depend on. It is not known for values of the
// controller itself, and a local program runs but once.
func (r *StackReconciler) inputsBasis(ctx context.Context, stack *v1.Stack, seen *observed) observe.Basis {
	secrets, configMaps := inputs.SecretRefs(stack), inputs.ConfigMapRefs(stack)
	if seen.local != nil || len(secrets)+len(configMaps) == 0 || inputs.ReadsController(stack) {
		return observe.Basis{}
	}
	return r.results.Basis(ctx, secrets, configMaps, generation(stack), seen.program.Digest, seen.program.Project.Name)
}

// outputsBasis returns what it depends on whether the Secret with the outputs is up to date.
func (r *StackReconciler) outputsBasis(ctx context.Context, stack *v1.Stack) observe.Basis {
	written := stack.Status.OutputsSecret
	if written == nil || written.Failure != nil {
		return observe.Basis{}
	}
	secret := types.NamespacedName{Namespace: stack.Namespace, Name: stack.Spec.WriteOutputsToSecret.Name}
	return r.results.Basis(ctx, []types.NamespacedName{secret}, nil, generation(stack), written.Name, written.Digest)
}

func generation(stack *v1.Stack) string { return strconv.FormatInt(stack.Generation, 10) }
