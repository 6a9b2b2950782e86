// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// ForCheck observes what a check for drift needs. It works from the state alone, so that a Stack
// whose program or config is at fault is checked as any other, and one that is suspended. What
// is missing is the Problem.
func (o *Observer) ForCheck(ctx context.Context, stack *v1.Stack) (*Observation, error) {
	seen := o.observeStack(stack)
	err := o.observeCheck(ctx, stack, seen)
	if seen.Problem = problemOf(err); seen.Problem == nil && err != nil {
		return nil, fmt.Errorf("failed to observe what a check for drift needs: %w", err)
	}
	return seen, nil
}

// ForPolicyCheck observes what a check of policies needs: all that an update needs, and all packs.
// What is missing is the Problem. The values are not those of an earlier reconcile, of which only
// the digest is kept.
func (o *Observer) ForPolicyCheck(ctx context.Context, stack *v1.Stack) (*Observation, error) {
	o.Results.Drop(stack.UID, aboutInputs)
	seen := o.observeStack(stack)
	err := o.observePolicies(ctx, stack, seen)
	if err == nil {
		err = o.observeInputs(ctx, stack, seen)
	}
	if seen.Problem = problemOf(err); seen.Problem == nil && err != nil {
		return nil, fmt.Errorf("failed to observe what a check of policies needs: %w", err)
	}
	seen.Problem = firstOf(seen.Problem, firstOf(seen.Policies.Problem, seen.Packs.Unresolved))
	seen.digestPolicies()
	return seen, nil
}

func (o *Observer) observeCheck(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	if err != nil {
		return &invalidSpecError{fmt.Errorf("spec.stack: %w", err)}
	}
	if stack.Spec.RunProgram {
		if seen.Program, err = o.findProgram(ctx, stack, seen, name); err == nil {
			err = o.resolve(ctx, stack, seen)
		}
	} else {
		_, err = o.observeState(ctx, stack, seen, name)
		o.offerProgram(ctx, stack, seen)
	}
	if err != nil {
		return err
	}
	return o.digestRun(stack, seen, string(run.CheckDrift))
}
