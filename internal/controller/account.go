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

// AccountChecker checks whether programs can run as a service account.
type AccountChecker interface {
	// Check returns an error that tells a person what to do.
	Check(ctx context.Context, account run.ServiceAccount) error
}

// checkAccount returns why the run that was decided on cannot have its service account,
// before anything of it begins: without the account, it would take a slot and be written
// to the status twice, only to fail.
func (r *StackReconciler) checkAccount(ctx context.Context, stack *v1.Stack, seen *observed, operation run.Operation) *decide.Problem {
	if run.KindOf(operation).Program == run.ProgramNever || seen.account == "" || r.Accounts == nil {
		return nil
	}
	err := r.Accounts.Check(ctx, run.ServiceAccount{Namespace: stack.Namespace, Name: seen.account})
	if err == nil {
		return nil
	}
	return &decide.Problem{Reason: v1.ServiceAccountFailedReason, Message: err.Error(),
		Since: notReadySince(stack, v1.ServiceAccountFailedReason, seen.Now)}
}

// notReadySince returns since when the Stack has not been ready for that reason, or now
// if the reason is new. What was the matter before the deletion of the Stack does not
// count: what a deletion waits for is given its time from then on.
func notReadySince(stack *v1.Stack, reason string, now time.Time) time.Time {
	ready := conditions.Get(stack, meta.ReadyCondition)
	if ready == nil || ready.Reason != reason {
		return now
	}
	if deleted := stack.DeletionTimestamp; deleted != nil && deleted.After(ready.LastTransitionTime.Time) {
		return deleted.Time
	}
	return ready.LastTransitionTime.Time
}
