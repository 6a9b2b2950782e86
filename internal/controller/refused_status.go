// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// The end of a run must get into the status, or the Stack would be stuck forever. The
// details need not: a result can be large, whoever may write the program controls it, and
// a policy of the cluster may refuse any of it. What happened to resources is in the
// state.

// writeResult writes the result of a run to the status: all of it, or as much as the API
// server accepts. It returns what was written. Each step leaves out what may have been the
// reason, and keeps what someone needs:
//   - Without outputs, the status still says what Pulumi said. They are in the state.
//   - Without that text, it still quotes why the API server rejected it, for a person to
//     change the program or the policy.
//   - Without that quote, which may repeat what a policy forbids, it still names the project:
//     a stack that is missing later is then known to be lost, and is not created again.
//   - Without the project, whose name the program chooses, it still records that the run has
//     ended. Nothing would ever run again for a Stack otherwise.
func (r *StackReconciler) writeResult(ctx context.Context, stack *v1.Stack, result *run.Result, take func(*run.Result)) (*run.Result, error) {
	before, record := stack.Status.DeepCopy(), *stack.Status.Run
	onlyOwn := func(result *run.Result, _ error) *run.Result {
		return stackstatus.WithoutReason(result, record.StartedAt.Time, r.Now())
	}
	andProject := func(result *run.Result, why error) *run.Result {
		reduced := onlyOwn(result, why)
		reduced.Project = result.Project // by which a stack that is missing later is known to be lost
		return reduced
	}
	err := r.patchStatus(ctx, stack, func() { take(result) })
	var why error
	for _, less := range []func(*run.Result, error) *run.Result{stackstatus.WithoutOutputs, stackstatus.WithoutDetails, andProject, onlyOwn} {
		if !apierror.IsRefused(err) && !apierror.IsTooLarge(err) {
			break
		}
		why = err
		reduced := less(result, err)
		stack.Status = *before.DeepCopy()
		err = r.patchStatus(ctx, stack, func() {
			take(reduced)
			stackstatus.RecordLeftOut(stack, &record, result, reduced)
		})
		if err == nil && reduced.Message != result.Message {
			r.announceLeftOut(ctx, stack, &record, result, reduced, why)
		}
		if err == nil {
			return reduced, nil
		}
	}
	return result, err
}

// announceLeftOut announces what was left out, and logs what is recorded nowhere else.
func (r *StackReconciler) announceLeftOut(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result, reduced *run.Result, why error) {
	log := ctrl.LoggerFrom(ctx)
	log.Error(why, "the result of a run is missing in the status", "run", record.ID, "message", result.Message)
	for _, urn := range result.UnknownCreates[len(reduced.UnknownCreates):] {
		log.Info("a creation of unknown outcome is missing in the status", "run", record.ID, "urn", urn)
	}
	r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: stackstatus.StatusRefusedReason, Message: reduced.Message,
		Revision: record.Revision, OriginRevision: record.OriginRevision, Beside: true}) // the event of the run follows
}
