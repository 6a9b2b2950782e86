// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// AccountChecker checks whether programs can run as a service account.
type AccountChecker interface {
	// Check returns an error that tells a person what to do.
	Check(ctx context.Context, account run.ServiceAccount) error
}

// checkAccount returns why the run that was decided on cannot have its service account,
// before anything of it begins: without the account, it would take a slot and be written
// to the status twice, only to fail.
func (r *StackReconciler) checkAccount(ctx context.Context, stack *v1.Stack, seen *observe.Observation, operation run.Operation) *decide.Problem {
	todo := run.Run{Operation: operation, Account: run.ServiceAccount{Namespace: stack.Namespace, Name: seen.Account}, Identity: seen.Identity}
	if !todo.NeedsAccount() || r.Accounts == nil {
		return nil
	}
	err := r.Accounts.Check(ctx, todo.Account)
	if err == nil {
		return nil
	}
	return &decide.Problem{Reason: v1.ServiceAccountFailedReason, Message: err.Error(),
		Since: stackstatus.NotReadySince(stack, v1.ServiceAccountFailedReason, seen.Now)}
}
