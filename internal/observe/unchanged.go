// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// The parts of a Stack that the cache of results is about.
const (
	aboutInputs  = "inputs"
	aboutOutputs = "outputs"
	aboutGit     = "git"
)

// HasNoValues reports whether the values for a run are not in the observation, as nothing
// has changed.
func (seen *Observation) HasNoValues() bool { return seen.Inputs == nil && seen.inputsDigest != "" }

// ObserveValues observes a Stack again, with the values for a run. These are not kept, and
// may have changed since the watch delivered the last version of an object.
func (o *Observer) ObserveValues(ctx context.Context, stack *v1.Stack, seen *Observation) (*Observation, error) {
	o.Results.Drop(stack.UID, aboutInputs)
	return o.observeAfter(ctx, stack, seen.upkept)
}

// resolveChanged resolves the values that the spec asks for, unless they are known to be
// those of an earlier reconcile.
func (o *Observer) resolveChanged(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	basis, err := o.inputsBasis(ctx, stack, seen)
	if err != nil {
		return err
	}
	if result, ok := o.Results.Get(stack.UID, aboutInputs, basis); ok {
		if seen.inputsDigest = result.Digest; result.Account == "" {
			seen.dropAccount()
		}
		return nil
	}
	if err := o.resolve(ctx, stack, seen); err != nil {
		return err
	}
	o.Results.Keep(stack.UID, aboutInputs, basis, Result{Digest: seen.inputsDigest, Account: seen.Account})
	return nil
}

// inputsBasis returns what the values of a Stack depend on. It is not known for values of the
// controller itself, and a local program runs but once.
func (o *Observer) inputsBasis(ctx context.Context, stack *v1.Stack, seen *Observation) (Basis, error) {
	secrets, configMaps := inputs.SecretRefs(stack), inputs.ConfigMapRefs(stack)
	if seen.local != nil || len(secrets)+len(configMaps) == 0 || inputs.ReadsController(stack) {
		return Basis{}, nil
	}
	ofAccount, err := seen.Identity.Text()
	if err != nil {
		return Basis{}, err
	}
	return o.Results.Basis(ctx, secrets, configMaps, generation(stack), seen.Program.Digest, seen.Program.Project.Name, ofAccount), nil
}

// outputsBasis returns what it depends on whether the Secret with the outputs is up to date.
func (o *Observer) outputsBasis(ctx context.Context, stack *v1.Stack) Basis {
	written := stack.Status.OutputsSecret
	if written == nil || written.Failure != nil {
		return Basis{}
	}
	secret := types.NamespacedName{Namespace: stack.Namespace, Name: stack.Spec.WriteOutputsToSecret.Name}
	return o.Results.Basis(ctx, []types.NamespacedName{secret}, nil, generation(stack), written.Name, written.Digest)
}

func generation(stack *v1.Stack) string { return strconv.FormatInt(stack.Generation, 10) }
