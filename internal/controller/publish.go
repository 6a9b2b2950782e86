// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/publish"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// publisher writes what belongs to a Stack beside its status.
func (r *StackReconciler) publisher() publish.Publisher {
	return publish.Publisher{Client: r.Client, Reader: r.APIReader, Owner: FieldOwner, Unwritten: &r.unwritten}
}

// publish writes what a run leaves beside the status. Only the outputs may keep its end from
// being absorbed: whoever waits for the Stack to be Ready reads them.
func (r *StackReconciler) publish(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) (stackstatus.Published, error) {
	outputs, err := r.publishOutputs(ctx, stack, record, result)
	if err != nil {
		return stackstatus.Published{}, err
	}
	published := stackstatus.Published{
		OutputsSecret: outputs,
		Inventory:     r.publishInventory(ctx, stack, result),
		RunLog:        r.publishLog(ctx, stack, record, result),
		Preview:       r.publishPlan(ctx, stack, record, result),
		Plan:          r.publishProposal(ctx, stack, record, result),
		Drift:         r.publishDrift(ctx, stack, record, result),
	}
	r.publishHistory(ctx, stack, record, result) // last: approvals wait for the others, which may need the room in a quota
	return published, nil
}

// publishInventory writes the inventory of a run, and returns its status. What cannot be
// written is retried: see decide.WriteInventory.
func (r *StackReconciler) publishInventory(ctx context.Context, stack *v1.Stack, result *run.Result) *v1.InventoryStatus {
	return r.publisher().Inventory(ctx, stack, result, r.Now().Add(stack.GetRetryInterval()))
}

// writeInventory writes an inventory that could not be written before.
func (r *StackReconciler) writeInventory(ctx context.Context, stack *v1.Stack) error {
	before := stack.Status.Inventory
	status := r.publisher().RetryInventory(ctx, stack, r.Now().Add(stack.GetRetryInterval()))
	if err := r.patchStatus(ctx, stack, func() { stackstatus.RecordInventory(stack, status) }); err != nil {
		return err
	}
	r.announceInventory(ctx, stack, before)
	return nil
}

// announceInventory announces a failed write once.
func (r *StackReconciler) announceInventory(ctx context.Context, stack *v1.Stack, before *v1.InventoryStatus) {
	key, now := client.ObjectKeyFromObject(stack), stack.Status.Inventory
	if now == nil || !r.unwritten.Has(key) || (before != nil && before.Message == now.Message) {
		return
	}
	r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: v1.InventoryFailedReason, Message: now.Message})
}

// publishHistory records a run. That is for people to read, so an ended run never waits for it: an entry of the
// history in the status names the run all the same. Written before the status, it has the run also if this process
// dies in between, and once.
func (r *StackReconciler) publishHistory(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	isLast := !stack.DeletionTimestamp.IsZero() && result.Outcome == run.Succeeded // the ConfigMap goes with the Stack
	if isLast && !stack.RetainsHistory() {
		return
	}
	of := stack.DeepCopy()
	of.Status.Run = record.DeepCopy()
	entry, isRecorded := stackstatus.Recorded(of, result)
	if !isRecorded {
		return
	}
	kept := history.Record{Entry: entry, Log: cmp.Or(result.Log, result.Tail)}
	if result.Done != nil {
		kept.Change = &history.Change{
			EndedAt: result.EndedAt, Approved: record.Approved, ApprovedBy: stackstatus.ApprovedBy(stack, record), Plan: *result.Done,
		}
	}
	r.writeHistory(ctx, stack, kept)
}

// recordInterrupted records a run whose end nobody saw.
func (r *StackReconciler) recordInterrupted(ctx context.Context, stack *v1.Stack, message string) {
	if entry, isRecorded := stackstatus.RecordedInterrupted(stack.DeepCopy(), message, r.Now()); isRecorded {
		r.writeHistory(ctx, stack, history.Record{Entry: entry})
	}
}

func (r *StackReconciler) writeHistory(ctx context.Context, stack *v1.Stack, record history.Record) {
	if err := r.publisher().History(ctx, stack, record); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to record a run in the history", "run", history.Run(record.Entry.Metadata))
	}
}

// settleHistory has the record of a deleted Stack stay or go, as its spec says by now. The deletion waits only for
// what a person wants to keep.
func (r *StackReconciler) settleHistory(ctx context.Context, stack *v1.Stack) error {
	err := r.publisher().SettleHistory(ctx, stack)
	if err != nil && !stack.RetainsHistory() {
		ctrl.LoggerFrom(ctx).Error(err, "failed to hand the history over for deletion with its Stack")
		return nil
	}
	if err != nil && !publish.IsForeign(err) {
		return fmt.Errorf("failed to retain the history: %w", err)
	}
	return nil
}

// publishLog writes the log of a run whose pod will be gone, and returns its status. The
// log is for people to read: an ended run never waits for it or fails because of it. What
// the status says about a run that is no reconcile does not replace what it says about
// the last one, and so neither does its log.
func (r *StackReconciler) publishLog(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) *v1.RunLogStatus {
	isLast := !stack.DeletionTimestamp.IsZero() && result.Outcome == run.Succeeded // the ConfigMap goes with the Stack
	switch {
	case !run.KindOfRecord(record).Reconciles || isLast:
		return stack.Status.RunLog
	case result.Log == nil:
		return nil
	}
	status, err := r.publisher().Log(ctx, stack, record.ID, result.Log)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to write the log of a run", "run", record.ID)
		return &v1.RunLogStatus{Run: record.ID, Message: fmt.Sprintf("Cannot write the log of the run: %v", err)}
	}
	return status
}
