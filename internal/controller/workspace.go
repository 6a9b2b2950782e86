// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Where runs have pods of their own, spec.workspaceTemplate customizes them. Elsewhere a
// Stack that has one does not run, and says so.

// checkRun returns why the run that was decided on can never work here, before anything
// of it starts.
func (r *StackReconciler) checkRun(stack *v1.Stack, seen *observe.Observation, operation run.Operation) *decide.Problem {
	todo := r.newRun(stack, seen, run.KindOf(operation), "check")
	var err error
	switch {
	case r.Jobs != nil:
		err = r.Jobs.Check(todo)
	case r.CheckBackend != nil:
		err = r.CheckBackend(todo.Backend)
	}
	if err != nil {
		return &decide.Problem{Reason: v1.InvalidSpecReason, Message: err.Error(), Terminal: true}
	}
	return nil
}

// jobOf returns the name of the Job of a run, or "" if runs are no Jobs.
func (r *StackReconciler) jobOf(todo run.Run) string {
	if r.Jobs == nil {
		return ""
	}
	return r.Jobs.JobName(todo.ID)
}

// waitingForSlot says why a run that is due does not start.
func (r *StackReconciler) waitingForSlot(stack *v1.Stack) string {
	if r.Jobs != nil {
		if why := r.Jobs.WaitsFor(stack.Namespace, stack.Name); why != "" {
			return why
		}
	}
	return "Waiting for other runs to end"
}
