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
