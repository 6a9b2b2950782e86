// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// A Stack whose finalizer somebody removes in mid-run goes at once, and its run goes on
// to an end that no status tells of. What follows is about what such a run has left.

// abandon drops what is kept of the runs of an object that is gone, or was made anew.
// What they leave open is told before, as nobody else knows of it. The Stack may be no
// more than the name of one.
func (r *StackReconciler) abandon(ctx context.Context, stack *v1.Stack) {
	for _, left := range r.abandoned(stack) {
		r.announce(ctx, stack, abandonedEvent(left))
		for _, urn := range left.creates() {
			ctrl.LoggerFrom(ctx).Info("a creation of unknown outcome is left by a run that was abandoned", "run", left.id, "urn", urn)
		}
	}
	r.Runner.Abandon(stack.Namespace, stack.Name)
}

// abandonTo is abandon for an object that was made anew. Where it is for the same stack,
// its status names the creations of unknown outcome, as if its own run had left them.
func (r *StackReconciler) abandonTo(ctx context.Context, stack *v1.Stack) error {
	if err := r.patchStatus(ctx, stack, func() {
		for _, left := range r.abandoned(stack) {
			if isSameStack(stack, left) {
				addUnknownCreates(stack, left.creates())
			}
		}
	}); err != nil {
		return err
	}
	r.abandon(ctx, stack)
	return nil
}

// abandonedRun is a run that has left something open.
type abandonedRun struct {
	id     string
	result *run.Result
}

// creates are the creations of unknown outcome. What a recovery has forgotten counts:
// no status and no event tells of that either.
func (a abandonedRun) creates() []string {
	return slices.Concat(a.result.UnknownCreates, a.result.Forgotten)
}

// abandoned are those runs of an object before this one. A result whose write was
// done and not answered is in the status.
func (r *StackReconciler) abandoned(stack *v1.Stack) []abandonedRun {
	var left []abandonedRun
	for _, ended := range r.Runner.Ended() {
		if ended.Namespace != stack.Namespace || ended.Name != stack.Name {
			continue
		}
		if last := stack.Status.LastUpdate; last != nil && last.Name == ended.ID {
			continue
		}
		_, result := r.Runner.Look(ended)
		if result == nil {
			continue
		}
		if run := (abandonedRun{ended.ID, result}); result.Interrupted || len(run.creates()) > 0 {
			left = append(left, run)
		}
	}
	return left
}

func abandonedEvent(left abandonedRun) notice {
	e := notice{kind: corev1.EventTypeWarning, reason: v1.RunInterruptedReason,
		message: fmt.Sprintf("Run %s has ended after its Stack was removed by force", left.id)}
	if left.result.Interrupted {
		e.message += ": Pulumi was killed, and the stack may be left locked, with operations in flight in its state"
	}
	if urns := left.creates(); len(urns) > 0 {
		e.reason = v1.PendingOperationsReason
		e.message += ". It is not known whether these resources were created; look for them at their provider: " + someURNs(urns)
	}
	return e
}

// isSameStack tells whether the run was of the stack that this object is for, by all
// that both of them tell: a project that the program names, or a backend that a variable
// does, is not known before the first run of it.
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
