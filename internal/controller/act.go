// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// FieldOwner is the field manager of all writes.
const FieldOwner = client.FieldOwner("pulumi-controller")

// act does what was decided: the duties first, then the action, and then a check.
func (r *StackReconciler) act(ctx context.Context, stack *v1.Stack, seen *observe.Observation, decision decide.Decision, which launch) error {
	for _, duty := range decision.Duties {
		if err := r.do(ctx, stack, seen, duty); err != nil {
			return err
		}
	}
	if err := r.take(ctx, stack, seen, decision, which); err != nil {
		return err
	}
	switch {
	case decision.Check:
		return r.checkDrift(ctx, stack)
	case decision.CheckPolicies:
		return r.checkPolicies(ctx, stack)
	}
	return nil
}

// take takes the action. A run to start is which.
func (r *StackReconciler) take(ctx context.Context, stack *v1.Stack, seen *observe.Observation, decision decide.Decision, which launch) error {
	switch decision.Action {
	case decide.Nothing:
		return nil
	case decide.MarkSuspended:
		return r.suspend(ctx, stack)
	case decide.MarkHeldElsewhere:
		return r.awaitHolder(ctx, stack)
	case decide.Start:
		return r.start(ctx, stack, seen, which)
	case decide.Absorb:
		return r.absorb(ctx, stack, seen.Result)
	case decide.DropRecord:
		return r.patchStatus(ctx, stack, func() { stackstatus.DropRecord(stack) })
	case decide.MarkInterrupted:
		return r.markInterrupted(ctx, stack, stackstatus.GoneText(stack.Status.Run))
	case decide.Release:
		return r.release(ctx, stack)
	case decide.ReportProgress:
		return r.reportProgress(ctx, stack, seen.Now)
	case decide.PreviewOnRequest:
		return r.previewOnRequest(ctx, stack, seen)
	case decide.Cancel:
		return r.cancel(ctx, stack)
	case decide.Withdraw:
		r.Jobs.Withdraw(refOf(stack))
		return nil // the end of the run triggers a reconcile
	case decide.StopCheck:
		return r.Runner.Cancel(refOf(stack), true) // it changes nothing, and its end triggers a reconcile
	case decide.RecordFindings:
		return r.recordFindings(ctx, stack)
	case decide.RemoveFinalizer:
		return r.removeFinalizer(ctx, stack, seen)
	case decide.InSync:
		return r.inSync(ctx, stack, seen)
	case decide.TakeOver:
		return r.takeOver(ctx, stack, seen)
	case decide.Fail:
		mark := stackstatus.MarkFailed
		if decision.Fetching {
			mark = stackstatus.MarkFetching
		}
		return r.report(ctx, stack, seen, decision, mark)
	case decide.Stall:
		mark := stackstatus.MarkStalled
		if decision.Reason == v1.PlanRejectedReason {
			mark = stackstatus.MarkRejected
		}
		return r.report(ctx, stack, seen, decision, mark)
	case decide.AwaitApproval:
		return r.awaitApproval(ctx, stack, seen, decision)
	case decide.Wait:
		return r.wait(ctx, stack, seen, decision)
	}
	return fmt.Errorf("decision %q is not known", decision.Action)
}

// inSync marks the Stack as in sync with its inputs.
func (r *StackReconciler) inSync(ctx context.Context, stack *v1.Stack, seen *observe.Observation) error {
	before := stackstatus.ReadinessOf(stack)
	if err := r.patchStatus(ctx, stack, func() {
		stackstatus.MarkUnchanged(stack, seen.Preview, seen.Program.Revision, seen.Program.OriginRevision)
	}); err != nil {
		return err
	}
	if e, isNew := stackstatus.ReadyEvent(before, stack, seen.Program.Revision, seen.Program.OriginRevision); isNew {
		r.announce(ctx, stack, e)
	}
	return nil
}

// do does what is due beside the action.
func (r *StackReconciler) do(ctx context.Context, stack *v1.Stack, seen *observe.Observation, duty decide.Duty) error {
	switch duty {
	case decide.RestoreFinalizer:
		return r.addFinalizer(ctx, stack)
	case decide.RepeatCancel:
		return r.Runner.Cancel(refOf(stack), stack.Status.Run.Cancel == v1.CancelNow)
	case decide.ConfirmFindings:
		r.confirmFindings(stack)
		return nil
	case decide.WithdrawPreview:
		return r.patchStatus(ctx, stack, func() { stackstatus.WithdrawPreview(stack) })
	case decide.DeleteFormerOutputs:
		return r.deleteFormerOutputs(ctx, stack)
	case decide.WriteInventory:
		return r.writeInventory(ctx, stack)
	case decide.DropInventory:
		r.unwritten.Drop(client.ObjectKeyFromObject(stack))
		return nil
	case decide.DropDrift:
		return r.dropDrift(ctx, stack)
	case decide.ScheduleDrift:
		return r.patchStatus(ctx, stack, func() { stackstatus.ScheduleDrift(stack, r.Now()) })
	case decide.DropPolicies:
		return r.patchStatus(ctx, stack, func() { stackstatus.DropPolicies(stack) })
	case decide.RunPrerequisites:
		return r.runPrerequisites(ctx, seen.Stale)
	}
	return fmt.Errorf("duty %q is not known", duty)
}

// suspend marks a suspended Stack. As in Flux, it still handles a reconcile request. One
// with a run in flight does not, since the run may have started before the change that the
// request is about.
func (r *StackReconciler) suspend(ctx context.Context, stack *v1.Stack) error {
	return r.patchStatus(ctx, stack, func() { stackstatus.MarkSuspended(stack) })
}

// awaitHolder leaves a run to the process that has it, as far as is known.
func (r *StackReconciler) awaitHolder(ctx context.Context, stack *v1.Stack) error {
	text := stackstatus.HeldText(stack)
	if why := r.unprovenJob(stack); why != "" {
		text = stackstatus.UnprovenJobText(stack, why)
	}
	return r.patchStatus(ctx, stack, func() { stackstatus.MarkHeldElsewhere(stack, text) })
}

// absorb writes the result of a run to the status. Only then may the runner forget it, so
// that a failed write is retried.
func (r *StackReconciler) absorb(ctx context.Context, stack *v1.Stack, result *run.Result) error {
	record, before := *stack.Status.Run, stack.DeepCopy()
	result = stackstatus.Classify(stack, &record, result)
	beside, left, err := r.publisher().AfterRun(ctx, stack, &record, result)
	r.announceLeft(ctx, stack, v1.OutputsFailedReason, left)
	if err != nil {
		return err
	}
	written, err := r.writeResult(ctx, stack, result, func(less *run.Result) {
		beside := beside
		if run.KindOfRecord(&record).OnRequest && less.Message != result.Message {
			beside.Preview = beside.Preview.DeepCopy()
			beside.Preview.Message = less.Message
		}
		stackstatus.Absorb(stack, less, beside)
	})
	if err != nil {
		return err
	}
	if stackstatus.KeepsPlan(stack, &record, result) {
		r.publisher().DropPlans(ctx, stack)
	} else {
		r.publisher().DropPlansSince(ctx, before.Status.Plan, stack)
	}
	r.Runs.Ended(record.Operation, result)
	r.announceEnd(ctx, before, stack, &record, written)
	if err := r.Runner.Forget(run.Ref{ID: record.ID, Namespace: stack.Namespace, Name: stack.Name}); err != nil {
		// The result is in the status. The files that are left are swept at the next
		// start.
		ctrl.LoggerFrom(ctx).Error(err, "failed to remove the files of a run that has ended", "run", record.ID)
	}
	return nil
}

// announceEnd announces how a run has ended, and what became of what it leaves.
func (r *StackReconciler) announceEnd(ctx context.Context, before, stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	proposed, kind := stackstatus.IsProposal(record, result), run.KindOfRecord(record)
	if proposed && stack.Status.Plan != nil || !proposed && kind.Reconciles {
		r.announce(ctx, stack, endEvent(before, stack, record, result))
	}
	if record.Operation == run.CheckDrift {
		r.announceDrift(ctx, before, stack, result.Drift)
	}
	announced := kind.Reconciles && result.Outcome.Effect().Fails // by the event of the run
	r.announcePolicies(ctx, before, stack, announced)
	r.Runs.Violated(result.Violations)
	r.announceShared(ctx, before, stack)
	r.announceOutputs(ctx, stack, record, before.Status.OutputsSecret)
	r.announceInventory(ctx, stack, before.Status.Inventory)
	if len(result.Forgotten) > 0 {
		r.announce(ctx, stack, stackstatus.ForgottenEvent(result.Forgotten))
	}
	r.emitReady(stackstatus.ReadinessOf(before), stack, record.Revision, record.OriginRevision)
}

// endEvent describes how a run has ended.
func endEvent(before, stack *v1.Stack, record *v1.RunStatus, result *run.Result) stackstatus.Event {
	if record.Operation == run.Preview {
		return stackstatus.PreviewEvent(before, stack, *record, result)
	}
	return stackstatus.EndEvent(stack, *record, result)
}

// markInterrupted gives up on a run whose end nobody saw. The message says why.
func (r *StackReconciler) markInterrupted(ctx context.Context, stack *v1.Stack, message string) error {
	lost, before := *stack.Status.Run, stack.DeepCopy()
	r.publisher().RecordInterrupted(ctx, stack, message)
	if err := r.patchStatus(ctx, stack, func() { stackstatus.MarkInterrupted(stack, message, r.Now()) }); err != nil {
		return err
	}
	if lost.Operation == run.CheckDrift {
		r.announceDrift(ctx, before, stack, nil)
	}
	r.announcePolicies(ctx, before, stack, true)
	if !run.KindOfRecord(&lost).Reconciles {
		return nil // it changed nothing, and runs again
	}
	r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: v1.RunInterruptedReason, Message: message,
		Revision: lost.Revision, OriginRevision: lost.OriginRevision})
	return nil
}
