// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Where runs have pods of their own, spec.workspaceTemplate customizes them. Elsewhere a
// Stack that has one does not run, and says so.

// validate checks the spec, except for a template that is supported here: that is checked
// with the run it is for.
func (r *StackReconciler) validate(stack *v1.Stack) error {
	if r.Jobs != nil && stack.Spec.WorkspaceTemplate != nil {
		stack = stack.DeepCopy()
		stack.Spec.WorkspaceTemplate = nil
	}
	return inputs.Validate(stack)
}

// workspaceOf returns the template as it is in the spec, if it is supported here. An
// empty one counts as none, and starts no run when it is added or removed.
func (r *StackReconciler) workspaceOf(stack *v1.Stack) json.RawMessage {
	if r.Jobs == nil || !inputs.HasJob(stack.Spec) {
		return nil
	}
	return stack.Spec.WorkspaceTemplate.Raw
}

// workspaceText returns the template with its keys sorted, for the digest of a run:
// another image or environment may give another result.
func (r *StackReconciler) workspaceText(stack *v1.Stack) (string, error) {
	raw := r.workspaceOf(stack)
	if len(raw) == 0 {
		return "", nil
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", &invalidSpecError{fmt.Errorf("spec.workspaceTemplate cannot be read: %w", err)}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("digest of spec.workspaceTemplate: %w", err)
	}
	return string(text), nil
}

// checkRun returns why the run that was decided on can never work here, before anything
// of it starts.
func (r *StackReconciler) checkRun(stack *v1.Stack, seen *observed, operation run.Operation) *decide.Problem {
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
