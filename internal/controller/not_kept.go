// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// The API server drops the fields that its CRD does not have, and reports success. So a
// run is not recorded because its record was written, but because the answer has it.

// notKeptError is a field of the status that was written, and that the API server has
// dropped. Its text is the message of the condition.
type notKeptError struct {
	field string
	// before is the Stack as it was before that.
	before *v1.Stack
}

func (e *notKeptError) Error() string {
	return fmt.Sprintf("The API server drops status.%s, because the CRD stacks.pulumi.com lacks fields of this controller: the CRD of the Pulumi "+
		"operator or of an older version was probably applied over it. Nothing runs until you apply the CRDs of this version again: kubectl apply --server-side --force-conflicts -k config/crd", e.field)
}

// checkKept returns a notKeptError if the API server has dropped what a later controller
// has to know of a run.
func checkKept(before, written, kept *v1.Stack) error {
	field := ""
	switch want, has := &written.Status, &kept.Status; {
	case want.Run != nil && (has.Run == nil || has.Run.ID != want.Run.ID):
		field = "run"
	case len(want.Interrupted) != len(has.Interrupted):
		field = "interrupted"
	case len(want.UnknownCreates) != len(has.UnknownCreates):
		field = "unknownCreates"
	case want.LastAttemptedDigest != has.LastAttemptedDigest:
		field = "lastAttemptedDigest"
	default:
		return nil
	}
	return &notKeptError{field, before}
}

// reportNotKept says once that the status is not kept, and looks again with a back-off: no
// event reports that the CRD has changed.
func (r *StackReconciler) reportNotKept(ctx context.Context, stack *v1.Stack, why *notKeptError) (ctrl.Result, error) {
	reason, message, now := v1.StatusNotKeptReason, why.Error(), r.Now()
	before, since := conditions.Get(why.before, meta.ReadyCondition), stackstatus.NotReadySince(why.before, reason, now)
	err := r.patchStatus(ctx, stack, func() {
		stackstatus.MarkFailed(stack, reason, message)
		stackstatus.KeepSince(stack, before)
	})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return ctrl.Result{RequeueAfter: watches.ConflictRetry}, nil // the object has changed
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if !stackstatus.IsReported(before, decide.Decision{Reason: reason, Message: message}) {
		r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message})
	}
	return ctrl.Result{RequeueAfter: decide.ProblemDelay(since, now, stack.GetRetryInterval())}, nil
}
