// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// AccountChecker tells whether programs can be given the rights of an account.
type AccountChecker interface {
	// Check returns an error that tells a person what to do.
	Check(ctx context.Context, account run.ServiceAccount) error
}

// decide decides what is next. The account is asked for where that is a run, and
// not each time that the Stack is looked at. A run that is started without one
// takes a slot from others, and is written into the status twice, to fail.
func (r *StackReconciler) decide(ctx context.Context, stack *v1.Stack, seen *observed) decide.Decision {
	decision := decide.Next(seen.Observation)
	if decision.Action == decide.Start {
		if problem := r.checkRun(stack, seen, decision.Operation); problem != nil {
			seen.Problem, seen.Recoverable = problem, false
			return decide.Next(seen.Observation)
		}
	}
	if decision.Action != decide.Start || decision.Operation == run.ReadOutputs || seen.account == "" || r.Accounts == nil {
		return decision
	}
	err := r.Accounts.Check(ctx, run.ServiceAccount{Namespace: stack.Namespace, Name: seen.account})
	if err == nil {
		return decision
	}
	seen.Problem = &decide.Problem{Reason: v1.ServiceAccountFailedReason, Message: err.Error()}
	seen.Problem.Since = notReadySince(stack, seen.Problem.Reason, seen.Now)
	return decide.Next(seen.Observation)
}

// notReadySince is since when the Stack is not ready for the reason, which is now
// where it is not so yet.
func notReadySince(stack *v1.Stack, reason string, now time.Time) time.Time {
	ready := conditions.Get(stack, meta.ReadyCondition)
	if ready == nil || ready.Reason != reason {
		return now
	}
	return ready.LastTransitionTime.Time
}
