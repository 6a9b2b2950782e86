// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// withdrawalPatience bounds the last status write of a controller that shuts down.
const withdrawalPatience = 10 * time.Second

// launch says which run to start.
type launch struct {
	kind run.Kind
	// request is the one that a preview on request is for, "" for any other kind.
	request string
	// approved is the digest of the plan that the run is held to, "" if it needs no approval.
	approved string
	// drift is the digest of the drift that the run corrects, or proposes to, "" for any other.
	drift string
	// checkRequest is the one that a check for drift is for, "" if there is none.
	checkRequest string
	// planKey is the key of the digests of values, once it is known.
	planKey string
	// comparison is what the plan of a preview is made with, once it is known. Nil for any other run.
	comparison *observe.Comparison
}

// launchOf returns the run that was decided on.
func launchOf(decision decide.Decision) launch {
	return launch{kind: run.KindFor(decision.Operation, decision.Drift), approved: decision.Approved, drift: decision.Drift}
}

// needsPlanKey reports whether the run reports values of resources, whose digests have a key.
func (l launch) needsPlanKey() bool {
	return l.kind.Proposes || l.kind.OnRequest || l.kind.Operation == run.CheckDrift || l.approved != "" || l.comparison != nil
}

// makesPlan reports whether the run is a preview whose plan is for a review.
func (l launch) makesPlan(stack *v1.Stack) bool {
	return l.kind.Operation == run.Preview && l.kind.Reconciles && stackstatus.MakesPlan(stack)
}

// checkStart returns why the run cannot start, before anything of it does, and gets its key of plans.
func (r *StackReconciler) checkStart(ctx context.Context, stack *v1.Stack, seen *observe.Observation, which *launch) *decide.Problem {
	if problem := r.checkRun(stack, seen, which.kind.Operation); problem != nil {
		return problem
	}
	if problem := r.checkAccount(ctx, stack, seen, which.kind.Operation); problem != nil {
		return problem
	}
	return r.checkPlanKey(ctx, stack, seen, which)
}

// start starts a run of any kind: it reserves a slot, adds the finalizer if the kind
// needs one, records the run, and then starts it. The record is written first, with
// optimistic locking: a conflict proves that the observation is stale, and a process that dies
// later leaves a record of what it may have been doing.
func (r *StackReconciler) start(ctx context.Context, stack *v1.Stack, seen *observe.Observation, which launch) (err error) {
	if !r.slotsFor(which.kind).Reserve(stack.Namespace, stack.Name) {
		if r.Runner.Closed() {
			return nil // the next process starts it; until then the status keeps the outcome of the last run
		}
		// The runner wakes the Stack.
		return r.patchStatus(ctx, stack, func() { stackstatus.MarkQueued(stack, which.kind, which.request, r.waitingForSlot(stack)) })
	}
	started := false
	defer func() {
		if !started {
			r.giveBack(stack, which.kind, err)
		}
	}()
	if err := r.preparePlan(ctx, stack, seen, &which); err != nil {
		return err
	}
	if which.kind.NeedsFinalizer {
		if err := r.addFinalizer(ctx, stack); err != nil {
			return err
		}
	}
	todo := r.newRun(stack, seen, which.kind, string(uuid.NewUUID()))
	todo.Approved, todo.PlanKey, todo.PlanInputs = which.approved, which.planKey, seen.PlanInputs.Sum(which.planKey)
	if which.drift != "" {
		todo.Options = correctionOptions(stack, todo.Options)
	}
	if which.comparison != nil {
		todo.WantsPlan, todo.Comparable, todo.PlanInputs = true, true, which.comparison.Inputs.Sum(which.planKey)
	}
	policies, err := policiesOf(seen, todo, which)
	if err != nil {
		return err
	}
	before := stack.Status.Plan
	if err := r.patchStatus(ctx, stack, func() {
		if which.kind.InConditions {
			stackstatus.AcknowledgeRequests(stack) // before the record, which has the request that it answers
		}
		record := r.record(stack, seen, todo, which)
		record.Policies = policies
		if which.comparison != nil {
			record.Incomparable, record.AfterRun = which.comparison.Incomparable, which.comparison.AfterRun
		}
		stackstatus.RecordRun(stack, record)
	}); err != nil {
		return err
	}
	logLeftOut(ctx, seen, todo, policies)
	err = r.startRecorded(ctx, stack, todo)
	if started = err == nil; started {
		r.publisher().DropPlansSince(ctx, before, stack)
		r.emitStarted(stack)
	}
	return err
}

// logLeftOut logs what a run does not get, or what the status has no room for.
func logLeftOut(ctx context.Context, seen *observe.Observation, todo run.Run, policies *v1.RunPolicies) {
	for _, leftOut := range seen.Inputs.LeftOut {
		ctrl.LoggerFrom(ctx).Info(leftOut)
	}
	if leftOut := policy.LeftOut(todo.Policies, policies); len(leftOut) > 0 {
		ctrl.LoggerFrom(ctx).Info("the status has no room for the results of all PolicySets: some count the Stack as unchecked", "policySets", leftOut)
	}
}

// emitStarted emits the event for the commit status of a preview that has just started.
func (r *StackReconciler) emitStarted(stack *v1.Stack) {
	if e, isNew := stackstatus.PreviewStarted(stack, *stack.Status.Run); isNew && run.KindOfRecord(stack.Status.Run).Reconciles {
		r.emit(stack, e)
	}
}

// giveBack gives back the slot of a run that did not start. After a conflict, the Stack is
// reconciled again at once, and must not go to the end of the queue.
func (r *StackReconciler) giveBack(stack *v1.Stack, kind run.Kind, why error) {
	if apierrors.IsConflict(why) {
		r.slotsFor(kind).Postpone(stack.Namespace, stack.Name)
		return
	}
	r.slotsFor(kind).Release(stack.Namespace, stack.Name)
}

// startRecorded starts a run that is recorded. After an error other than a refusal the run
// may or may not have started. The record stays, and the next reconcile finds out.
func (r *StackReconciler) startRecorded(ctx context.Context, stack *v1.Stack, todo run.Run) error {
	err := r.Runner.Start(todo)
	if !errors.Is(err, run.ErrRefused) {
		return err
	}
	// The controller is shutting down, which cancels ctx too. Withdraw the run, or the
	// next controller would have to recover from one that never started, or take a
	// preview for failed.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawalPatience)
	defer cancel()
	return errors.Join(err, r.patchStatus(last, stack, func() { stackstatus.DropRecord(stack) }))
}

// record returns what the status says about a run, from before it starts.
func (r *StackReconciler) record(stack *v1.Stack, seen *observe.Observation, todo run.Run, which launch) v1.RunStatus {
	return v1.RunStatus{
		ID:               todo.ID,
		Operation:        todo.Operation,
		Generation:       stack.Generation,
		Revision:         seen.Program.Revision,
		OriginRevision:   seen.Program.OriginRevision,
		Digest:           seen.Digest,
		Approved:         todo.Approved,
		PreviewRequest:   which.request,
		CheckRequest:     which.checkRequest,
		Drift:            which.drift,
		ReconcileRequest: stack.Status.GetLastHandledReconcileRequest(),
		StartedAt:        metav1.Time{Time: seen.Now},
		Holder:           r.Holder,
		Job:              r.jobOf(todo),
		ProjectInfo: &v1.ProjectInfo{
			Name: todo.Project.Name, Runtime: todo.Project.Runtime, Backend: grammar.BackendOf(todo),
		},
	}
}
