// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// fieldOwner is the field manager of all writes.
const fieldOwner = client.FieldOwner("pulumi-controller")

// act does what was decided.
func (r *StackReconciler) act(ctx context.Context, stack *v1.Stack, seen *observed, decision decide.Decision) error {
	if !seen.Deleting && mayHaveMade(stack) {
		if err := r.addFinalizer(ctx, stack); err != nil {
			return err
		}
	}
	if err := r.passCancelOn(stack, seen); err != nil {
		return err
	}
	if err := r.dropWait(ctx, stack); err != nil {
		return err
	}
	if seen.Run == nil {
		if err := r.dropOutputs(ctx, stack); err != nil {
			return err
		}
		if err := r.retryInventory(ctx, stack, decision); err != nil {
			return err
		}
	}
	switch decision.Action {
	case decide.Nothing:
		return r.nothing(ctx, stack, seen)
	case decide.Start:
		return r.start(ctx, stack, seen, launch{operation: decision.Operation})
	case decide.Absorb:
		return r.absorb(ctx, stack, seen.result)
	case decide.DropRecord:
		return r.patchStatus(ctx, stack, func() { withdrawRun(stack) })
	case decide.MarkInterrupted:
		return r.lose(ctx, stack, goneText(stack.Status.Run))
	case decide.Release:
		return r.release(ctx, stack)
	case decide.ReportProgress:
		return r.tell(ctx, stack, seen.Now)
	case decide.PreviewOnRequest:
		return r.previewOnRequest(ctx, stack, seen)
	case decide.Cancel:
		return r.cancel(ctx, stack)
	case decide.Withdraw:
		r.Jobs.Withdraw(stack.Status.Run.ID)
		return nil // the end of the run triggers a reconcile
	case decide.RecordFindings:
		return r.noteFindings(ctx, stack)
	case decide.RemoveFinalizer:
		return r.removeFinalizer(ctx, stack, seen)
	case decide.InSync:
		return r.inSync(ctx, stack, seen)
	case decide.TakeOver:
		return r.takeOver(ctx, stack, seen)
	case decide.Fail:
		mark := markFailed
		if decision.Fetching {
			mark = markFetching
		}
		return r.report(ctx, stack, seen, decision, mark)
	case decide.Stall:
		return r.report(ctx, stack, seen, decision, markStalled)
	case decide.Wait:
		return r.wait(ctx, stack, seen, decision)
	}
	return fmt.Errorf("decision %q is not known", decision.Action)
}

// inSync marks the Stack as in sync with its inputs.
func (r *StackReconciler) inSync(ctx context.Context, stack *v1.Stack, seen *observed) error {
	before := readinessOf(stack)
	if err := r.patchStatus(ctx, stack, func() {
		markHandled(stack)
		stack.Status.LastAttemptedRevision = seen.program.Revision
		if seen.Preview {
			// The last run was the preview of these inputs.
			markPreviewed(stack, previewedAt(seen.program.Revision, stack.Status.LastUpdate.Message))
			return
		}
		markInSync(stack, seen.program.Revision, seen.program.OriginRevision)
	}); err != nil {
		return err
	}
	r.announceReady(ctx, before, stack, seen.program.Revision, seen.program.OriginRevision)
	return nil
}

// nothing leaves the Stack as it is. As in Flux, a suspended Stack still handles a
// reconcile request; one with a run in flight does not, since the run may have started
// before the change that the request is about.
func (r *StackReconciler) nothing(ctx context.Context, stack *v1.Stack, seen *observed) error {
	if seen.Run != nil && seen.Run.Phase == run.Unknown {
		text := heldText(stack)
		if why := r.unprovenJob(stack.Status.Run); why != "" {
			text = unprovenJobText(stack, why)
		}
		return r.patchStatus(ctx, stack, func() { markHeldElsewhere(stack, text) })
	}
	if seen.Run != nil {
		r.tellNoted(stack) // the answer to the write may have been lost
		return nil
	}
	return r.patchStatus(ctx, stack, func() {
		markHandled(stack)
		if conditions.GetReason(stack, meta.ReconcilingCondition) == meta.ProgressingReason {
			markSuspended(stack)
		}
	})
}

// absorb writes the result of a run to the status. Only then may the runner forget it, so
// that a failed write is retried.
func (r *StackReconciler) absorb(ctx context.Context, stack *v1.Stack, result *run.Result) error {
	record, before, ready := *stack.Status.Run, stack.Status.DeepCopy(), readinessOf(stack)
	result = sortGone(stack, &record, result)
	outputs, err := r.handOutputs(ctx, stack, &record, result)
	if err != nil {
		return err
	}
	inventory := r.handInventory(ctx, stack, result)
	log := r.publishLog(ctx, stack, &record, result)
	preview := r.handSteps(ctx, stack, &record, result)
	told, err := r.takeIn(ctx, stack, result, func(told *run.Result) {
		stack.Status.OutputsSecret, stack.Status.Inventory, stack.Status.RunLog = outputs, inventory, log
		absorb(stack, told)
		stack.Status.Preview = preview
		if isPreviewOnRequest(&record) && told.Message != result.Message {
			stack.Status.Preview = preview.DeepCopy()
			stack.Status.Preview.Message = told.Message
		}
	})
	if err != nil {
		return err
	}
	r.Runs.Ended(run.Operation(record.Operation), result)
	result = told
	if !isAside(&record) {
		r.announce(ctx, stack, endEvent(stack, record, result))
	}
	r.announceOutputs(ctx, stack, &record, before.OutputsSecret)
	r.announceInventory(ctx, stack, before.Inventory)
	if len(result.Forgotten) > 0 {
		r.announce(ctx, stack, forgottenEvent(result.Forgotten))
	}
	r.announceReady(ctx, ready, stack, record.Revision, record.OriginRevision)
	if err := r.Runner.Forget(record.ID); err != nil {
		// The result is in the status. The files that are left are swept at the next
		// start.
		ctrl.LoggerFrom(ctx).Error(err, "failed to remove the files of a run that has ended", "run", record.ID)
	}
	return nil
}

// lose gives up on a run whose end nobody saw. The message says why.
func (r *StackReconciler) lose(ctx context.Context, stack *v1.Stack, message string) error {
	lost := *stack.Status.Run
	if err := r.patchStatus(ctx, stack, func() { loseRun(stack, message, r.Now()) }); err != nil {
		return err
	}
	if isAside(&lost) {
		return nil // it changed nothing, and runs again
	}
	r.announce(ctx, stack, notice{kind: corev1.EventTypeWarning, reason: v1.RunInterruptedReason, message: stack.Status.LastUpdate.Message,
		revision: lost.Revision, originRevision: lost.OriginRevision})
	return nil
}
