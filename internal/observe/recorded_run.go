// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// HolderProver proves that the process that recorded a run is gone.
type HolderProver interface {
	// Gone returns true only if the holder, which recorded the run at the given time, is
	// proven to be gone. An UnprovenError needs a person to fix it.
	Gone(ctx context.Context, holder v1.RunHolder, recorded time.Time) (bool, error)
}

// UnprovenError is a fault of this machine that keeps a HolderProver from checking.
type UnprovenError struct{ error }

// Unproven wraps an error in an UnprovenError.
func Unproven(err error) error { return &UnprovenError{err} }

func (e *UnprovenError) Unwrap() error { return e.error }

// observeRun finds out the state of the recorded run.
func (o *Observer) observeRun(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	recorded, ref := stack.Status.Run, run.Ref{ID: stack.Status.Run.ID, Namespace: stack.Namespace, Name: stack.Name}
	kind, phase, report := run.KindOfRecord(recorded), run.Unknown, run.Report{}
	switch {
	case o.Runner != nil:
		phase, seen.Result = o.Runner.Look(ref)
		report = o.Runner.Report(ref)
	case kind.InBackground:
		phase = run.Running // only a runner that does not know it proves that it is lost
	}
	found := decide.Run{
		Operation:        recorded.Operation,
		Holder:           decide.HeldHere,
		Phase:            phase,
		StartedAt:        recorded.StartedAt.Time,
		UnknownCreates:   report.UnknownCreates,
		FoundMore:        !stackstatus.HasFound(stack, report.Found),
		ProgressReported: stackstatus.IsProgressReported(recorded, report.Progress),
		ReportedAfter:    stackstatus.ProgressReportedAfter(recorded),
		Released:         stackstatus.IsReleased(stack),
		CancelAsked:      stackstatus.MustCancel(stack),
		CancelRecorded:   recorded.Cancel != "",
		Unconfirmed:      recorded.Emptied && report.Found.Emptied,
		Unclaimed:        report.Withdrawable,
		Withdrawable:     report.Withdrawable && !isWanted(stack),
		Unapproved:       !stackstatus.IsStillApproved(stack, recorded),
	}
	found.InBackground, found.Outdated = kind.InBackground, recorded.Generation != stack.Generation
	seen.Run = &found
	if o.Runner != nil && recorded.Holder == o.Holder {
		return nil
	}
	found.Holder = decide.HeldElsewhere
	if recorded.Job != "" && (report.Unproven != "" || o.Runner == nil && !o.Jobs) {
		found.UnprovenJob = true
		return nil // its pod may be running, whatever became of its controller
	}
	if o.Holders == nil {
		return nil
	}
	gone, err := o.Holders.Gone(ctx, recorded.Holder, recorded.StartedAt.Time)
	if unproven := (*UnprovenError)(nil); errors.As(err, &unproven) {
		found.Unproven = fmt.Sprintf("Cannot determine the outcome of run %s (%s) of the controller on %s: %v",
			recorded.ID, recorded.Operation, recorded.Holder.Host, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("failed to find out whether %s is gone: %w", recorded.Holder.Host, err)
	}
	if gone {
		found.Holder = decide.HolderGone
	}
	return nil
}

// isWanted reports whether the Stack was neither edited nor deleted since the record of its
// run, and its plan, if it needs an approval, is still approved. A preview on request waits through edits, as it is done only once, until nobody asks
// for it any more.
func isWanted(stack *v1.Stack) bool {
	record := stack.Status.Run
	if run.KindOfRecord(record).OnRequest {
		return stack.DeletionTimestamp.IsZero() && stackstatus.RequestToken(stack.Annotations[v1.PreviewRequestAnnotation]) == record.PreviewRequest
	}
	return record.Generation == stack.Generation && stackstatus.IsStillApproved(stack, record)
}

// observePacksOfRun finds out whether a run that no pod has started would run the program with other
// packs than those that are enforced by now. It may wait for days, and the Stack may decide for how
// long: without this, it would be a way around a PolicySet that was created or changed meanwhile.
func (o *Observer) observePacksOfRun(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	record, kind := stack.Status.Run, run.KindOfRecord(stack.Status.Run)
	if !seen.Run.Unclaimed || kind.Policies != run.PoliciesEnforced || kind.OnRequest || seen.Deleting || seen.Suspended {
		return nil // a preview on request changes nothing, and is done only once
	}
	if err := o.observePolicies(ctx, stack, seen); err != nil {
		return err
	}
	digest := ""
	if record.Policies != nil {
		digest = record.Policies.Digest
	}
	switch problem := seen.Policies.Problem; {
	case problem == nil:
		seen.Run.OtherPacks = seen.Policies.Enforced != digest
	case problem.Since.IsZero():
		seen.Run.OtherPacks = true // no run could start with such packs
	default:
		seen.Run.UnknownPacks = true // an error of the API server withdraws nothing
	}
	return nil
}
