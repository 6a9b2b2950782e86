// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// If someone removes the finalizer of a Stack in mid-run, the object goes at once, and no
// status says how its run ends. This file deals with what such a run leaves behind.

// abandon makes the runner forget the runs of an object that is gone or was recreated.
// What they left open is announced first, as nothing else knows about it. Of the Stack,
// only the name may be set.
func (r *StackReconciler) abandon(ctx context.Context, stack *v1.Stack) error {
	all, err := r.abandoned(stack)
	if err != nil {
		return err
	}
	r.forgetAbandoned(ctx, stack, all)
	return nil
}

func (r *StackReconciler) forgetAbandoned(ctx context.Context, stack *v1.Stack, all []abandonedRun) {
	r.announceAbandoned(ctx, stack, all)
	r.Runner.Release(stack.Namespace, stack.Name)
	for _, ended := range r.endedRuns(stack) {
		if err := r.Runner.Forget(ended); err != nil {
			// It is deleted later, or by the next controller.
			ctrl.LoggerFrom(ctx).Error(err, "failed to delete what a run has left", "run", ended.ID)
		}
	}
}

// endedRuns returns the runs of a Stack of that name that have ended here.
func (r *StackReconciler) endedRuns(stack *v1.Stack) []run.Ref {
	return slices.DeleteFunc(r.Runner.Ended(), func(ended run.Ref) bool {
		return ended.Namespace != stack.Namespace || ended.Name != stack.Name
	})
}

func (r *StackReconciler) announceAbandoned(ctx context.Context, stack *v1.Stack, all []abandonedRun) {
	for _, left := range all {
		r.announce(ctx, stack, abandonedEvent(stack, left))
		for _, urn := range left.creates() {
			ctrl.LoggerFrom(ctx).Info("a creation of unknown outcome is left by a run that was abandoned", "run", left.id, "urn", urn)
		}
	}
}

// abandonTo abandons the runs of the earlier object of a recreated Stack, or those whose
// record the API server has dropped. If they were for the same stack, its status takes over
// their creations of unknown outcome: the runner keeps them until the API server does.
func (r *StackReconciler) abandonTo(ctx context.Context, stack *v1.Stack) error {
	all, err := r.abandoned(stack)
	if err != nil {
		return err
	}
	isTold := isKnownNotKept(stack)
	err = r.patchStatus(ctx, stack, func() {
		for _, left := range all {
			if isSameStack(stack, left) {
				addUnknownCreates(stack, left.creates())
			}
		}
	})
	if notKept := (*notKeptError)(nil); errors.As(err, &notKept) && !isTold {
		r.announceAbandoned(ctx, stack, all) // now, as this process may die before the status has them
	}
	if err != nil {
		return err
	}
	r.forgetAbandoned(ctx, stack, all)
	return nil
}

// abandonedRun is a run that left something open.
type abandonedRun struct {
	id     string
	result *run.Result
}

// creates returns the creations of unknown outcome. Those that a recovery has forgotten
// count too: no status and no event names them either.
func (a abandonedRun) creates() []string {
	return slices.Concat(a.result.UnknownCreates, a.result.Forgotten)
}

// abandoned returns the runs of an earlier object that left something open. It skips the
// run that the status already has: only the response to that write was lost.
func (r *StackReconciler) abandoned(stack *v1.Stack) ([]abandonedRun, error) {
	var left []abandonedRun
	for _, ended := range r.endedRuns(stack) {
		if last := stack.Status.LastUpdate; last != nil && last.Name == ended.ID {
			continue
		}
		_, result := r.Runner.Look(ended)
		if result == nil {
			return nil, fmt.Errorf("the result of run %s cannot be read yet", ended.ID)
		}
		if run := (abandonedRun{ended.ID, result}); result.Interrupted || len(run.creates()) > 0 {
			left = append(left, run)
		}
	}
	return left, nil
}

func abandonedEvent(stack *v1.Stack, left abandonedRun) notice {
	e := notice{kind: corev1.EventTypeWarning, reason: v1.RunInterruptedReason,
		message: fmt.Sprintf("Run %s has ended after its Stack was removed by force", left.id)}
	if isOlder(stack, left) {
		e.message = fmt.Sprintf("Run %s has ended after the status of its Stack had lost the record of it, as when a CRD without status.run is applied", left.id)
	}
	if left.result.Interrupted {
		e.message += ": Pulumi was killed, and the stack may be left locked, with operations in flight in its state"
	}
	if urns := left.creates(); len(urns) > 0 {
		e.reason = v1.PendingOperationsReason
		e.message += ". It is not known whether these resources were created; look for them at their provider: " + someURNs(urns)
	}
	return e
}

// isOlder reports whether the object was there before the run, so that it was not recreated.
func isOlder(stack *v1.Stack, left abandonedRun) bool {
	made := stack.CreationTimestamp
	return !made.IsZero() && !made.After(left.result.StartedAt)
}

// isSameStack reports whether the run was for the stack of this object, as far as both
// say: a project named by the program, or a backend set by a variable, is unknown before
// the first run.
func isSameStack(stack *v1.Stack, left abandonedRun) bool {
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	result, creates := left.result, left.creates()
	if err != nil || len(creates) == 0 {
		return false
	}
	if known := stack.Spec.Backend; known != "" && result.Backend != "" && grammar.PublicBackend(known) != result.Backend {
		return false
	}
	project := name.Project
	if project == "" {
		project = result.Project.Name
	}
	return strings.HasPrefix(creates[0], "urn:pulumi:"+name.Stack+"::"+project+"::")
}
