// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"cmp"
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// AfterRun writes what a run leaves beside the status, and returns what the status says of it, and
// why a Secret that the Stack no longer needs is left. Only the outputs may keep the end of a run
// from being absorbed: whoever waits for the Stack to be Ready reads them.
func (p Publisher) AfterRun(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) (published stackstatus.Published, left []error, err error) {
	outputs, left, err := p.outputsAfterRun(ctx, stack, record, result)
	if err != nil {
		return stackstatus.Published{}, left, err
	}
	published = stackstatus.Published{
		OutputsSecret: outputs,
		Inventory:     p.Inventory(ctx, stack, result),
		RunLog:        p.logAfterRun(ctx, stack, record, result),
		Preview:       p.previewAfterRun(ctx, stack, record, result),
		Plan:          p.planAfterRun(ctx, stack, record, result),
		Drift:         p.driftAfterRun(ctx, stack, record, result),
	}
	p.recordAfterRun(ctx, stack, record, result) // last: approvals wait for the others, which may need the room in a quota
	return published, left, nil
}

// recordAfterRun records a run in the history. That is for people to read, so an ended run never waits for it: an entry of the
// history in the status names the run all the same. Written before the status, it has the run also if this process
// dies in between, and once.
func (p Publisher) recordAfterRun(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
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
	p.writeHistory(ctx, stack, kept)
}

// RecordInterrupted records a run whose end nobody saw.
func (p Publisher) RecordInterrupted(ctx context.Context, stack *v1.Stack, message string) {
	if entry, isRecorded := stackstatus.RecordedInterrupted(stack.DeepCopy(), message, p.Now()); isRecorded {
		p.writeHistory(ctx, stack, history.Record{Entry: entry})
	}
}

func (p Publisher) writeHistory(ctx context.Context, stack *v1.Stack, record history.Record) {
	if err := p.History(ctx, stack, record); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to record a run in the history", "run", history.Run(record.Entry.Metadata))
	}
}

// logAfterRun writes the log of a run whose pod will be gone, and returns its status. The
// log is for people to read: an ended run never waits for it or fails because of it. What
// the status says about a run that is no reconcile does not replace what it says about
// the last one, and so neither does its log.
func (p Publisher) logAfterRun(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) *v1.RunLogStatus {
	isLast := !stack.DeletionTimestamp.IsZero() && result.Outcome == run.Succeeded // the ConfigMap goes with the Stack
	switch {
	case !run.KindOfRecord(record).Reconciles || isLast:
		return stack.Status.RunLog
	case result.Log == nil:
		return nil
	}
	status, err := p.Log(ctx, stack, record.ID, result.Log)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to write the log of a run", "run", record.ID)
		return &v1.RunLogStatus{Run: record.ID, Message: fmt.Sprintf("Cannot write the log of the run: %v", err)}
	}
	return status
}
