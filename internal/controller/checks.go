// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// backgroundCheck is a run in the background, for drift or of the policies. It is a run like any
// other, one of a Stack at a time, with slots of its own. It is no reconcile: only a condition of its
// own, and what the status has of drift or of policies, report it.
type backgroundCheck struct {
	which launch
	// observe observes what the check needs.
	observe func(context.Context, *v1.Stack) (*observe.Observation, error)
	// fail changes the status to say why the check could not start, and announce announces it.
	fail     func(stack *v1.Stack, seen *observe.Observation, why string)
	announce func(ctx context.Context, before, stack *v1.Stack)
}

// checkDrift starts a check for drift, or says why it cannot.
func (r *StackReconciler) checkDrift(ctx context.Context, stack *v1.Stack) error {
	return r.check(ctx, stack, backgroundCheck{
		which:    launch{kind: run.KindOf(run.CheckDrift), checkRequest: stackstatus.CheckRequest(stack)},
		observe:  r.observer().ForCheck,
		fail:     func(stack *v1.Stack, _ *observe.Observation, why string) { stackstatus.FailCheck(stack, why, r.Now()) },
		announce: func(ctx context.Context, before, stack *v1.Stack) { r.announceDrift(ctx, before, stack, nil) },
	})
}

// checkPolicies starts a check of the policies, or says why it cannot.
func (r *StackReconciler) checkPolicies(ctx context.Context, stack *v1.Stack) error {
	return r.check(ctx, stack, backgroundCheck{
		which:   launch{kind: run.KindOf(run.CheckPolicies)},
		observe: r.observer().ForPolicyCheck,
		fail: func(stack *v1.Stack, seen *observe.Observation, why string) {
			stackstatus.FailPolicyCheck(stack, seen.Policies.Digest, why, r.Now())
		},
		announce: func(ctx context.Context, before, stack *v1.Stack) { r.announcePolicies(ctx, before, stack, false) },
	})
}

// check starts a check, or says why it cannot. It reads no values before it is the Stack's turn: many
// may be waiting.
func (r *StackReconciler) check(ctx context.Context, stack *v1.Stack, c backgroundCheck) error {
	slots := r.Runner.Background()
	if !slots.Reserve(stack.Namespace, stack.Name) {
		return nil // the runner wakes the Stack
	}
	seen, err := c.observe(ctx, stack)
	if err != nil {
		slots.Release(stack.Namespace, stack.Name)
		return err
	}
	problem := seen.Problem
	if problem == nil {
		problem = r.checkStart(ctx, stack, seen, &c.which)
	}
	if problem == nil {
		return r.start(ctx, stack, seen, c.which)
	}
	slots.Release(stack.Namespace, stack.Name)
	before, why := stack.DeepCopy(), fmt.Sprintf("%s: %s", problem.Reason, problem.Message)
	if err := r.patchStatus(ctx, stack, func() { c.fail(stack, seen, why) }); err != nil {
		return err
	}
	c.announce(ctx, before, stack)
	return nil
}

// failedCheckRetry is how long to wait after a check that could not start: time enough for the
// cache to see that.
const failedCheckRetry = time.Second

// checkFailures returns how many checks in a row have failed.
func checkFailures(stack *v1.Stack) int64 {
	return stackstatus.CheckFailures(stack) + stackstatus.PolicyCheckFailures(stack)
}
