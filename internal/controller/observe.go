// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	programs "github.com/flux-pulumi/pulumi-controller/internal/program"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// SourceResolver resolves the artifact that a reference points to.
type SourceResolver interface {
	Resolve(ctx context.Context, namespace string, ref v1.SourceReference) (*source.Source, error)
}

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

// observed is what one reconcile has observed: the Observation to decide on, and what
// acting on the decision needs.
type observed struct {
	decide.Observation
	program program
	// inputs are nil if they are known to be those of an earlier reconcile, of which only
	// their digest is kept.
	inputs       *inputs.Inputs
	inputsDigest string
	result       *run.Result
	// stale are the prerequisites that have to run again.
	stale []*v1.Stack
	// account is the service account the program runs as.
	account string
	// forced says to force the run: it was asked for, and no forced run has succeeded
	// since.
	forced bool
	// upkeep is what is due for the objects that are kept for spec.projectRepo, and upkept what
	// became of it.
	upkeep *gitsource.Upkeep
	upkept *upkept
	// local is the local program to preview instead of that of the Stack.
	local *program
}

// program is a program at its current revision.
type program struct {
	run.Program
	Revision, OriginRevision, Digest string
	// Project is set for a Program only: a source brings its own Pulumi.yaml.
	Project run.Project
	// ResourceNames are the names of the resources of a Program.
	ResourceNames map[string]bool
	// Declared are the config values that a Program declares.
	Declared []programs.Declared
	// MadeAt is when the Program was created. Zero for a source.
	MadeAt time.Time
}

// observe gathers all that a decision depends on. It returns only errors of the API
// server; whatever is wrong with the Stack becomes a Problem.
func (r *StackReconciler) observe(ctx context.Context, stack *v1.Stack) (*observed, error) {
	return r.observeAfter(ctx, stack, nil)
}

// observeAfter observes a Stack after the upkeep of its Git objects, if that was due.
func (r *StackReconciler) observeAfter(ctx context.Context, stack *v1.Stack, done *upkept) (*observed, error) {
	seen := r.observeStack(stack)
	seen.upkept = done
	if stack.Status.Run != nil {
		// Nothing else matters until the run ends, so nothing else is read.
		return seen, r.observeRun(ctx, stack, seen)
	}
	if seen.Suspended && !seen.Deleting {
		return seen, r.observeSuspended(ctx, stack, seen)
	}
	leaves := !seen.DestroyOnFinalize && !seen.Interrupted
	if seen.Suspended || (seen.Deleting && (!seen.HasFinalizer || leaves || seen.Preview)) {
		return seen, nil
	}
	if seen.Deleting && r.Jobs != nil {
		ends, err := r.Jobs.NamespaceEnds(ctx, stack.Namespace)
		if seen.NamespaceEnds = ends; ends || err != nil {
			return seen, err
		}
	}
	err := r.observeInputs(ctx, stack, seen)
	if seen.Problem = problemOf(err); seen.Problem == nil && err != nil {
		return seen, err
	}
	if seen.Problem != nil {
		// What was there once and is gone is not about to appear.
		seen.Problem.Awaited = seen.Problem.Awaited && (stack.Status.LastAttemptedRevision == "" || seen.Problem.Fetching)
		if passes(err) || (seen.Deleting && seen.Problem.Fetching) {
			seen.Problem.Since = stackstatus.NotReadySince(stack, seen.Problem.Reason, seen.Now)
		}
	}
	if err := r.observeOutputs(ctx, stack, seen); err != nil {
		return seen, err
	}
	return seen, r.observeOrder(ctx, stack, seen)
}

// observeStack gathers what the Stack itself says.
func (r *StackReconciler) observeStack(stack *v1.Stack) *observed {
	seen := &observed{
		Observation: stackstatus.Observation(stack, r.Now()),
		account:     inputs.ServiceAccount(stack, r.DefaultServiceAccount),
		forced:      stackstatus.ForceRequested(stack) || stack.Status.RefreshPending,
	}
	seen.InventoryRetryAt = r.unwritten.RetryAt(client.ObjectKeyFromObject(stack))
	return seen
}

// isWithdrawable reports whether no pod has started the run in flight, and the Stack was
// edited or deleted since the record. A preview on request waits through edits, as it is
// done only once, until nobody asks for it any more.
func (r *StackReconciler) isWithdrawable(stack *v1.Stack) bool {
	record := stack.Status.Run
	wanted := record.Generation == stack.Generation
	if run.KindOfRecord(record).OnRequest {
		wanted = stack.DeletionTimestamp.IsZero() && stackstatus.RequestToken(stack.Annotations[v1.PreviewRequestAnnotation]) == record.PreviewRequest
	}
	return !wanted && r.Runner.Report(refOf(stack)).Withdrawable
}

// refOf identifies the recorded run.
func refOf(stack *v1.Stack) run.Ref {
	return run.Ref{ID: stack.Status.Run.ID, Namespace: stack.Namespace, Name: stack.Name}
}

// observeRun finds out the state of the recorded run.
func (r *StackReconciler) observeRun(ctx context.Context, stack *v1.Stack, seen *observed) error {
	recorded := stack.Status.Run
	phase, result := r.Runner.Look(refOf(stack))
	report := r.Runner.Report(refOf(stack))
	seen.result = result
	seen.Run = &decide.Run{
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
		Withdrawable:     r.isWithdrawable(stack),
	}
	if recorded.Holder == r.Holder {
		return nil
	}
	seen.Run.Holder = decide.HeldElsewhere
	if r.unprovenJob(stack) != "" {
		seen.Run.UnprovenJob = true
		return nil // its pod may be running, whatever became of its controller
	}
	gone, err := r.Holders.Gone(ctx, recorded.Holder, recorded.StartedAt.Time)
	if unproven := (*UnprovenError)(nil); errors.As(err, &unproven) {
		seen.Run.Unproven = fmt.Sprintf("Cannot determine what became of run %s (%s) of the controller on %s: %v",
			recorded.ID, recorded.Operation, recorded.Holder.Host, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("failed to find out whether %s is gone: %w", recorded.Holder.Host, err)
	}
	if gone {
		seen.Run.Holder = decide.HolderGone
	}
	return nil
}
