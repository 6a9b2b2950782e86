// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// fieldOwner is who writes, as the API server records it.
const fieldOwner = client.FieldOwner("pulumi-controller")

// act does what was decided.
func (r *StackReconciler) act(ctx context.Context, stack *v1.Stack, seen *observed, decision decide.Decision) error {
	if !seen.Deleting && mayHaveMade(stack) {
		if err := r.hold(ctx, stack); err != nil {
			return err
		}
	}
	if err := r.passCancelOn(stack, seen); err != nil {
		return err
	}
	if seen.Run == nil {
		if err := r.dropOutputs(ctx, stack); err != nil {
			return err
		}
		if err := r.retryInventory(ctx, stack); err != nil {
			return err
		}
	}
	switch decision.Action {
	case decide.Nothing:
		return r.nothing(ctx, stack, seen)
	case decide.Start:
		return r.start(ctx, stack, seen, decision.Operation)
	case decide.Absorb:
		return r.absorb(ctx, stack, seen.result)
	case decide.Withdraw:
		return r.patchStatus(ctx, stack, func() { withdrawRun(stack) })
	case decide.Lose:
		return r.lose(ctx, stack, goneText(stack.Status.Run))
	case decide.Release:
		return r.lose(ctx, stack, releasedText(stack.Status.Run))
	case decide.Tell:
		return r.tell(ctx, stack, seen.Now)
	case decide.Look:
		return r.look(ctx, stack, seen)
	case decide.Cancel:
		return r.cancel(ctx, stack)
	case decide.NameCreates:
		return r.nameCreates(ctx, stack)
	case decide.LetGo:
		return r.letGo(ctx, stack, seen)
	case decide.InSync:
		return r.inSync(ctx, stack, seen)
	case decide.TakeOver:
		return r.takeOver(ctx, stack, seen)
	case decide.Fail:
		return r.report(ctx, stack, seen, decision, markFailed)
	case decide.Stall:
		return r.report(ctx, stack, seen, decision, markStalled)
	case decide.Wait:
		return r.wait(ctx, stack, seen, decision)
	}
	return fmt.Errorf("decision %q is not known", decision.Action)
}

// inSync notes that the Stack is as its inputs say.
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

// nothing leaves the Stack as it is. A request is answered all the same when
// the Stack is suspended, as Flux does; while a run is in flight it waits, since
// the run may have begun before what the request is about.
func (r *StackReconciler) nothing(ctx context.Context, stack *v1.Stack, seen *observed) error {
	if seen.Run != nil && seen.Run.Phase == run.Unknown {
		return r.patchStatus(ctx, stack, func() { markHeldElsewhere(stack) })
	}
	if seen.Run != nil {
		return nil
	}
	return r.patchStatus(ctx, stack, func() {
		markHandled(stack)
		if conditions.GetReason(stack, meta.ReconcilingCondition) == meta.ProgressingReason {
			markSuspended(stack)
		}
	})
}

// withdrawalPatience bounds the last write of a controller that ends.
const withdrawalPatience = 10 * time.Second

// start records a run and then starts it. The record is written with optimistic
// locking and before anything else happens: a refused write proves that what was
// observed is stale, and a process that dies at any point after it leaves word
// of what it may have been doing.
func (r *StackReconciler) start(ctx context.Context, stack *v1.Stack, seen *observed, operation run.Operation) error {
	if !r.Runner.Reserve(stack.Namespace, stack.Name) {
		if r.Ending != nil && r.Ending() {
			return nil // the next process starts it; until then, what became of the last run stays to be read
		}
		return r.patchStatus(ctx, stack, func() { markWaiting(stack, r.waitingForPlace(stack)) })
	}
	started := false
	defer func() {
		if !started {
			r.Runner.Release(stack.Namespace, stack.Name)
		}
	}()
	if err := r.hold(ctx, stack); err != nil {
		return err
	}
	todo := newRun(stack, seen, operation, string(uuid.NewUUID()))
	todo.Interrupted = interruptedRuns(stack, operation, r.Holder)
	todo.Workspace = r.workspaceOf(stack)
	if err := r.patchStatus(ctx, stack, func() {
		takeOn(stack)
		recordRun(stack, r.record(stack, seen, todo))
	}); err != nil {
		return err
	}
	for _, leftOut := range seen.inputs.LeftOut {
		ctrl.LoggerFrom(ctx).Info(leftOut)
	}
	err := r.Runner.Start(todo)
	if errors.Is(err, run.ErrRefused) {
		// It is refused as the controller ends, which ends ctx too: the next one would have
		// to recover from a run that never was.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawalPatience)
		defer cancel()
		return errors.Join(err, r.patchStatus(last, stack, func() { withdrawRun(stack) }))
	}
	// Any other error leaves it open whether the run has begun. The record
	// stays, and the next reconcile finds out.
	started = err == nil
	return err
}

// hold adds the finalizer. It comes with the first run and not before: without
// it the object has nothing to undo, and goes at once when it is deleted.
func (r *StackReconciler) hold(ctx context.Context, stack *v1.Stack) error {
	before := stack.DeepCopy()
	if !controllerutil.AddFinalizer(stack, v1.StackFinalizer) {
		return nil
	}
	if err := r.Patch(ctx, stack, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return fmt.Errorf("failed to add the finalizer: %w", err)
	}
	return nil
}

// mayHaveMade tells that there may be something to undo. A finalizer that somebody
// has removed since, with a kubectl replace or a restore, is put back: the object
// would go without a destroy, and without a word.
func mayHaveMade(stack *v1.Stack) bool {
	status := &stack.Status
	return status.ProjectInfo != nil || (status.Run != nil && !isLook(status.Run)) || len(status.Interrupted) > 0 || len(status.UnknownCreates) > 0
}

func (r *StackReconciler) record(stack *v1.Stack, seen *observed, todo run.Run) v1.RunStatus {
	return v1.RunStatus{
		ID:               todo.ID,
		Operation:        v1.Operation(todo.Operation),
		Generation:       stack.Generation,
		Revision:         seen.program.Revision,
		OriginRevision:   seen.program.OriginRevision,
		Digest:           seen.Digest,
		ReconcileRequest: stack.Status.GetLastHandledReconcileRequest(),
		StartedAt:        metav1.Time{Time: seen.Now},
		Holder:           r.Holder,
		Job:              r.jobOf(todo),
		ProjectInfo: &v1.ProjectInfo{
			Name: todo.Project.Name, Runtime: todo.Project.Runtime, Backend: grammar.BackendOf(todo),
		},
	}
}

// absorb writes the result of a run into the status, and only then lets the
// runner forget it: a write that fails is made again.
func (r *StackReconciler) absorb(ctx context.Context, stack *v1.Stack, result *run.Result) error {
	record, before, ready := *stack.Status.Run, stack.Status.DeepCopy(), readinessOf(stack)
	outputs, err := r.handOutputs(ctx, stack, &record, result)
	if err != nil {
		return err
	}
	inventory := r.handInventory(ctx, stack, result)
	preview := r.handSteps(ctx, stack, &record, result)
	told, err := r.takeIn(ctx, stack, result, func(told *run.Result) {
		stack.Status.OutputsSecret, stack.Status.Inventory = outputs, inventory
		absorb(stack, told)
		stack.Status.Preview = preview
		if isLook(&record) && told.Message != result.Message {
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
		// The result is in the status; what is left are files that the next
		// start sweeps.
		ctrl.LoggerFrom(ctx).Error(err, "failed to remove the files of a run that has ended", "run", record.ID)
	}
	return nil
}

// lose gives up a run of which nobody has seen the end. The message says why.
func (r *StackReconciler) lose(ctx context.Context, stack *v1.Stack, message string) error {
	lost := *stack.Status.Run
	if err := r.patchStatus(ctx, stack, func() { loseRun(stack, message, r.Now()) }); err != nil {
		return err
	}
	if isAside(&lost) {
		return nil // it is done again, and nothing was changed by it
	}
	r.announce(ctx, stack, notice{kind: corev1.EventTypeWarning, reason: v1.RunInterruptedReason, message: stack.Status.LastUpdate.Message,
		revision: lost.Revision, originRevision: lost.OriginRevision})
	return nil
}

// letGo removes the finalizer.
func (r *StackReconciler) letGo(ctx context.Context, stack *v1.Stack, seen *observed) error {
	r.releaseGit(ctx, stack)
	if err := r.releaseOutputs(ctx, stack); err != nil {
		return err
	}
	before := stack.DeepCopy()
	if !controllerutil.RemoveFinalizer(stack, v1.StackFinalizer) {
		return nil
	}
	if err := r.Patch(ctx, stack, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return fmt.Errorf("failed to remove the finalizer: %w", err)
	}
	for _, left := range leftEvents(stack, seen) {
		r.announce(ctx, stack, left)
	}
	if reason, while := notDestroyed(seen); reason != "" {
		r.announce(ctx, stack, notice{
			kind:    corev1.EventTypeWarning,
			reason:  reason,
			message: fmt.Sprintf("The Stack was deleted while %s: stack %s was not destroyed", while, stack.Spec.Stack),
		})
	}
	return nil
}

// notDestroyed tells why a Stack that asks for a destroy was let go without one.
func notDestroyed(seen *observed) (reason, while string) {
	switch {
	case !seen.DestroyOnFinalize || seen.NeverRan:
		return "", ""
	case seen.Suspended:
		return meta.SuspendedReason, "suspended"
	case seen.Preview:
		return v1.NotDestroyedReason, "it only previewed"
	}
	return "", ""
}

// report writes a failure into the conditions, and tells of it once for each
// revision: that of a run was told when the run ended.
func (r *StackReconciler) report(ctx context.Context, stack *v1.Stack, seen *observed, decision decide.Decision, mark func(stack *v1.Stack, reason, message string)) error {
	before := conditions.Get(stack, meta.ReadyCondition)
	revision := seen.program.Revision
	isNew := revision != "" && revision != stack.Status.LastAttemptedRevision
	if err := r.patchStatus(ctx, stack, func() {
		if revision != "" {
			stack.Status.LastAttemptedRevision = revision
		}
		// Answered with a failure, but the run that is asked for is still to come.
		takeOn(stack)
		mark(stack, decision.Reason, decision.Message)
	}); err != nil {
		return err
	}
	if isNew || (!isTold(before, decision) && !isOfLastRun(stack, decision)) {
		kind := corev1.EventTypeWarning
		if decision.Awaited {
			// As in Flux: a chat is not told of each Stack that was there before its source.
			kind = eventv1.EventTypeTrace
		}
		r.announce(ctx, stack, notice{kind: kind, reason: decision.Reason, message: decision.Message,
			revision: revision, originRevision: seen.program.OriginRevision})
	}
	return nil
}

// isTold tells whether the condition says what was decided.
func isTold(ready *metav1.Condition, decision decide.Decision) bool {
	return ready != nil && ready.Reason == decision.Reason && ready.Message == decision.Message
}

// isOfLastRun tells whether what was decided says again how the last run failed.
func isOfLastRun(stack *v1.Stack, decision decide.Decision) bool {
	if cancelled := stack.Status.CancelledRun; cancelled != nil && cancelled.EndedAt != nil && decision.Reason == v1.CancelRequestedReason {
		return true // a recovery may have come after it
	}
	last := stack.Status.LastUpdate
	return last != nil && last.State == v1.UpdateFailed && last.Reason == decision.Reason && last.Message == decision.Message
}

// patchStatus applies the change to the status and writes it if that makes a
// difference, with optimistic locking.
func (r *StackReconciler) patchStatus(ctx context.Context, stack *v1.Stack, change func()) error {
	before := stack.DeepCopy()
	change()
	if equality.Semantic.DeepEqual(before.Status, stack.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Status().Patch(ctx, stack, patch, fieldOwner); err != nil {
		return fmt.Errorf("failed to write the status: %w", err)
	}
	return nil
}
