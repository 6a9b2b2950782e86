// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	aclv1 "github.com/fluxcd/pkg/apis/acl"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/acl"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// SourceResolver finds the artifact that a reference leads to.
type SourceResolver interface {
	Resolve(ctx context.Context, namespace string, ref v1.SourceReference) (*source.Source, error)
}

// HolderProver proves that the process that recorded a run is gone.
type HolderProver interface {
	// Gone is true only when that is proven. The holder recorded the run at the
	// time. An UnprovenError is one that a person has to mend.
	Gone(ctx context.Context, holder v1.RunHolder, recorded time.Time) (bool, error)
}

// UnprovenError is why a HolderProver cannot look: a fault of this machine.
type UnprovenError struct{ error }

// Unproven makes an UnprovenError of an error.
func Unproven(err error) error { return &UnprovenError{err} }

func (e *UnprovenError) Unwrap() error { return e.error }

// observed is what one reconcile has seen: the Observation to decide on, and
// what the decision may need to be acted on.
type observed struct {
	decide.Observation
	program program
	inputs  *inputs.Inputs
	result  *run.Result
	// stale are the prerequisites that are to run again.
	stale []*v1.Stack
	// account is the service account whose rights the program has.
	account string
	// forced: the run is to be forced, as somebody asks for that, or has asked and
	// no forced run has succeeded since.
	forced bool
	// local is the program that somebody has brought for a preview, in place of that
	// of the Stack.
	local *program
}

// program is a program as it is now.
type program struct {
	run.Program
	// Revision, OriginRevision and Digest of it.
	Revision, OriginRevision, Digest string
	// Project is known for a Program only: a source brings its Pulumi.yaml.
	Project run.Project
	// MadeAt is when the Program was created. Zero for a source.
	MadeAt time.Time
}

// observe gathers all that a decision rests on. An error is one of the API
// server's; whatever is wrong with the Stack is a Problem.
func (r *StackReconciler) observe(ctx context.Context, stack *v1.Stack) (*observed, error) {
	seen := &observed{Observation: decide.Observation{
		Deleting:            !stack.DeletionTimestamp.IsZero(),
		Held:                controllerutil.ContainsFinalizer(stack, v1.StackFinalizer),
		NeverRan:            neverRan(stack),
		Unfound:             mustExist(stack),
		Suspended:           stack.Spec.Suspend,
		DestroyOnFinalize:   stack.Spec.DestroyOnFinalize,
		Interval:            stack.GetInterval(),
		RetryInterval:       stack.GetRetryInterval(),
		Preview:             stack.Spec.Preview,
		ContinueResync:      stack.Spec.ContinueResyncOnCommitMatch,
		RetryConflict:       stack.Spec.RetryOnUpdateConflict,
		Requested:           requested(stack),
		PreviewRequested:    previewRequested(stack),
		Owed:                stack.Status.RunPending,
		Edited:              edited(stack),
		Interrupted:         len(stack.Status.Interrupted) > 0,
		UnknownCreates:      stack.Status.UnknownCreates,
		ClearPendingCreates: stack.Spec.PendingCreates == v1.PendingCreatesClear,
		Last:                lastRun(stack),
		Cancelled:           cancelledRun(stack),
		Failures:            stack.Status.Failures,
		Now:                 r.Now(),
	}, account: inputs.ServiceAccount(stack, r.DefaultServiceAccount), forced: forced(stack) || stack.Status.RefreshPending}
	if recorded := stack.Status.Run; recorded != nil {
		// Nothing else matters before its end, so nothing else is read.
		err := r.observeRun(ctx, recorded, seen)
		seen.Run.Told, seen.Run.Released = isProgressTold(recorded, r.progress(recorded)), isReleased(stack)
		seen.Run.ToldAfter = toldAfter(recorded)
		seen.Run.CancelAsked = mustCancel(stack)
		return seen, err
	}
	if seen.Suspended && !seen.Deleting {
		return seen, r.suspendGit(ctx, stack)
	}
	leaves := !seen.DestroyOnFinalize && !seen.Interrupted
	if seen.Suspended || (seen.Deleting && (!seen.Held || leaves || seen.Preview)) {
		return seen, nil
	}
	if seen.Deleting && r.NamespaceEnds != nil {
		ends, err := r.NamespaceEnds(ctx, stack.Namespace)
		if seen.NamespaceEnds = ends; ends || err != nil {
			return seen, err
		}
	}
	err := r.observeInputs(ctx, stack, seen)
	if seen.Problem = problemOf(err); seen.Problem == nil && err != nil {
		return seen, err
	}
	if seen.Problem != nil {
		// What was there once and is gone is not on its way.
		seen.Problem.Awaited = seen.Problem.Awaited && (stack.Status.LastAttemptedRevision == "" || errors.Is(err, source.ErrFetching))
		if passes(err) {
			seen.Problem.Since = notReadySince(stack, seen.Problem.Reason, seen.Now)
		}
	}
	if err := r.observeOutputs(ctx, stack, seen); err != nil {
		return seen, err
	}
	return seen, r.observeOrder(ctx, stack, seen)
}

// observeRun finds out where the run that is recorded stands.
func (r *StackReconciler) observeRun(ctx context.Context, recorded *v1.RunStatus, seen *observed) error {
	seen.Run = &decide.Run{Holder: decide.HeldHere}
	seen.Run.Phase, seen.result = r.Runner.Look(recorded.ID)
	seen.Run.StartedAt = recorded.StartedAt.Time
	seen.Run.UnknownCreates = r.unknownCreatesInFlight(recorded)
	if recorded.Holder == r.Holder {
		return nil
	}
	seen.Run.Holder = decide.HeldElsewhere
	if recorded.Job != "" && !r.doesJobs() {
		return nil // whatever became of its controller, its pod may be at work
	}
	gone, err := r.Holders.Gone(ctx, recorded.Holder, recorded.StartedAt.Time)
	if unproven := (*UnprovenError)(nil); errors.As(err, &unproven) {
		seen.Run.Unproven = fmt.Sprintf("It cannot be found out what became of run %s (%s) of the controller on %s: %v",
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

// observeInputs finds the program and resolves the values for a run.
func (r *StackReconciler) observeInputs(ctx context.Context, stack *v1.Stack, seen *observed) error {
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	if err != nil {
		return &invalidSpecError{fmt.Errorf("spec.stack: %w", err)}
	}
	if seen.Deleting {
		if err := r.observeDestroy(ctx, stack, seen, name); err != nil {
			return err
		}
		return r.digestRun(stack, seen, string(run.Destroy))
	}
	if err := checkSize(stack); err != nil {
		return &invalidSpecError{err}
	}
	if err := r.validate(stack); err != nil {
		return err
	}
	if err := r.checkOrder(ctx, stack, seen); err != nil {
		return err
	}
	if err := r.leaveGit(ctx, stack); err != nil {
		return err
	}
	if seen.program, err = r.programFor(ctx, stack, seen, name); err != nil {
		return r.withoutProgram(ctx, stack, seen, name, err)
	}
	return r.resolveFor(ctx, stack, seen)
}

// resolveFor resolves the values for a run of the program that was found.
func (r *StackReconciler) resolveFor(ctx context.Context, stack *v1.Stack, seen *observed) error {
	if err := r.resolve(ctx, stack, seen); err != nil {
		return err
	}
	if err := r.digestRun(stack, seen, ""); err != nil {
		return err
	}
	seen.AppliedElsewhere = appliedByOperator(stack, seen.program)
	return nil
}

// digestRun tells a run by its inputs: one that has failed for want of a credential is
// begun again when that is there.
func (r *StackReconciler) digestRun(stack *v1.Stack, seen *observed, operation string) error {
	options, err := inputs.RunOptions(stack.Spec)
	if err != nil {
		return err
	}
	workspace, err := r.workspaceText(stack)
	if err != nil {
		return err
	}
	in := inputs.RunInputs{
		ProgramDigest: seen.program.Digest,
		Project:       seen.program.Project.Name,
		Dir:           dirOf(stack),
		Stack:         stack.Spec.Stack,
		Backend:       stack.Spec.Backend,
		Inputs:        seen.inputs.Digest,
		Options:       options,

		ServiceAccount: seen.account,
		Workspace:      workspace,
		Operation:      operation,
	}
	if operation != "" && !stack.Spec.RunProgram {
		// It works from the state alone, however the project is known.
		in.ProgramDigest, in.Project = "", ""
	}
	seen.Digest = inputs.RunDigest(in)
	return nil
}

// observeDestroy resolves what a destroy needs. It works from the state of the
// stack, so neither the config nor, where the project is known, the program is
// needed: both may be gone, or wrong.
func (r *StackReconciler) observeDestroy(ctx context.Context, stack *v1.Stack, seen *observed, name grammar.StackName) (err error) {
	if stack.Spec.RunProgram {
		return r.observeProgramOfDestroy(ctx, stack, seen, name)
	}
	if known, err := r.observeState(ctx, stack, seen, name); known || err != nil {
		return err
	}
	if err := r.validate(stack); err != nil {
		return err
	}
	if seen.program, err = r.findProgram(ctx, stack, name); err != nil {
		return fmt.Errorf("%w (the destroy needs it, as no run has told the project of the stack and spec.stack does not name it)", err)
	}
	return nil
}

// observeProgramOfDestroy resolves what a destroy needs that runs the program:
// all that an update needs.
func (r *StackReconciler) observeProgramOfDestroy(ctx context.Context, stack *v1.Stack, seen *observed, name grammar.StackName) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w (the destroy needs it, as spec.runProgram is set)", err)
		}
	}()
	if err := r.validate(stack); err != nil {
		return err
	}
	if seen.program, err = r.findProgram(ctx, stack, name); err != nil {
		return err
	}
	return r.resolve(ctx, stack, seen)
}

// findProgram finds the program that the Stack refers to.
func (r *StackReconciler) findProgram(ctx context.Context, stack *v1.Stack, name grammar.StackName) (program, error) {
	if ref := stack.Spec.ProgramRef; ref != nil {
		return r.programObject(ctx, stack.Namespace, ref.Name, name.Project)
	}
	if stack.Spec.ProjectRepo != "" {
		return r.gitProgram(ctx, stack)
	}
	ref := stack.Spec.FluxSource.SourceRef
	if err := r.watches.ensure(ref.Kind); err != nil {
		return program{}, err
	}
	found, err := r.Sources.Resolve(ctx, stack.Namespace, ref)
	if err != nil {
		return program{}, err
	}
	return program{
		Program:        run.Program{Artifact: &run.Artifact{URL: found.URL, Digest: found.Digest, Dir: stack.Spec.FluxSource.Dir}},
		Revision:       found.Revision,
		OriginRevision: found.OriginRevision,
		Digest:         found.Digest,
	}, nil
}

// invalidSpecError is a fault that only an edit mends.
type invalidSpecError struct{ error }

func (e *invalidSpecError) Unwrap() error { return e.error }

// programMissingError is a Program that is not there.
type programMissingError struct{ namespace, name string }

func (e *programMissingError) Error() string {
	return fmt.Sprintf("Program %s/%s not found: create it, or correct spec.programRef", e.namespace, e.name)
}

// problemOf turns an error that is the Stack's into a Problem. It returns nil
// for an error of the API server, which the work queue retries.
func problemOf(err error) *decide.Problem {
	var (
		invalid      *invalidSpecError
		invalidInput *inputs.InvalidError
		denied       acl.AccessDeniedError
		noProgram    *programMissingError
		badProgram   *programInvalidError
		noInput      *inputs.MissingError
		badInput     *inputs.UnusableError
		notOurs      *notOursError
		refused      *refusedError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid), errors.As(err, &invalidInput), errors.Is(err, source.ErrInvalid):
		return &decide.Problem{Reason: v1.InvalidSpecReason, Message: err.Error(), Terminal: true}
	case errors.As(err, &denied):
		return &decide.Problem{Reason: aclv1.AccessDeniedReason, Message: err.Error(), Terminal: true}
	case errors.As(err, &noProgram), errors.Is(err, source.ErrNotFound), errors.Is(err, source.ErrNotReady), errors.Is(err, source.ErrFetching):
		return &decide.Problem{Reason: meta.ArtifactFailedReason, Message: err.Error(), Awaited: true}
	case errors.As(err, &badProgram):
		return &decide.Problem{Reason: v1.ProgramInvalidReason, Message: err.Error()}
	case errors.Is(err, source.ErrNotServed), errors.Is(err, source.ErrFetchFailed), errors.As(err, &notOurs), errors.As(err, &refused):
		return &decide.Problem{Reason: meta.ArtifactFailedReason, Message: err.Error()}
	case errors.As(err, &noInput), errors.As(err, &badInput):
		return &decide.Problem{Reason: v1.InputsFailedReason, Message: err.Error()}
	}
	return forbiddenProblem(err)
}

// passes tells whether a problem may pass without anything that the controller sees:
// nothing tells it of a CRD that is installed again, or of a right that is granted.
func passes(err error) bool {
	var refused *refusedError
	return errors.Is(err, source.ErrNotServed) || errors.As(err, &refused)
}

// neverRan tells that all runs that ended did so before Pulumi started, or only
// previewed, so that there is nothing to destroy. A Stack that was moved here from
// the Pulumi operator, which writes no digest, has no run of ours and proves
// nothing; the first run of ours notes in the project that there was another
// (recordRun), and the commit that succeeded there stays in the status.
func neverRan(stack *v1.Stack) bool {
	succeeded := stack.Status.LastUpdate != nil && stack.Status.LastUpdate.LastSuccessfulCommit != ""
	return stack.Status.ProjectInfo == nil && stack.Status.LastAttemptedDigest != "" && !succeeded
}

// edited tells whether the last run was of another generation. That of the
// Pulumi operator may tell none.
func edited(stack *v1.Stack) bool {
	last := stack.Status.LastUpdate
	return last != nil && last.Generation != 0 && last.Generation != stack.Generation
}

// lastRun reads the last run from the status.
func lastRun(stack *v1.Stack) decide.LastRun {
	last := decide.LastRun{Digest: stack.Status.LastAttemptedDigest}
	update := stack.Status.LastUpdate
	if update == nil {
		return last
	}
	switch update.Type {
	case v1.UpdateTypeDestroy:
		last.Operation = run.Destroy
	case v1.UpdateTypeRefresh:
		last.Operation = run.Recover
	case v1.UpdateTypePreview:
		last.Operation = run.Preview
	default:
		last.Operation = run.Update
	}
	last.RunDigest = update.Digest
	last.Succeeded = update.State == v1.UpdateSucceeded
	last.Reason, last.Message = update.Reason, update.Message
	last.Cancelled = update.Reason == v1.RunCancelledReason
	last.Interrupted = update.Reason == v1.RunInterruptedReason
	last.Locked = update.Reason == v1.StackLockedReason
	switch update.Reason {
	case v1.BackendUnavailableReason, v1.RegistryUnavailableReason, v1.ServiceAccountFailedReason, v1.PodFailedReason, meta.ArtifactFailedReason:
		// An artifact that is gone, damaged or not to be had is one of a source, or
		// of its server, that is about to have another.
		last.Unavailable = true
	}
	if update.LastResyncTime != nil {
		last.EndedAt = update.LastResyncTime.Time
	}
	return last
}

// dirOf returns the directory of the program in its source.
func dirOf(stack *v1.Stack) string {
	if stack.Spec.ProjectRepo != "" {
		return stack.Spec.RepoDir
	}
	if stack.Spec.FluxSource == nil {
		return ""
	}
	return stack.Spec.FluxSource.Dir
}
