// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// newRun assembles all that a run needs, of whatever kind.
func (r *StackReconciler) newRun(stack *v1.Stack, seen *observed, kind run.Kind, id string) run.Run {
	operation := kind.Operation
	todo := run.Run{
		ID:        id,
		Namespace: stack.Namespace,
		Name:      stack.Name,
		UID:       string(stack.UID),
		Operation: operation,
		Revision:  seen.program.Revision,
		Stack:     stack.Spec.Stack,
		Backend:   backend(stack, seen.inputs.Env),
		Project:   projectOf(stack, seen, operation),
		Program:   seen.program.Program,
		Env:       seen.inputs.Env,
		Config:    seen.inputs.Config,
		Secrets:   seen.inputs.Secrets,
		Masks:     seen.inputs.Masks,
		Account:   run.ServiceAccount{Namespace: stack.Namespace, Name: seen.account},
		Options: run.Options{
			Refresh: stack.Spec.Refresh || seen.forced,
			// Without spec.refresh, a forced run must not fail on drift, which it is there
			// to fix. Any other refreshes only if its Pulumi.yaml says so.
			ExpectNoRefreshChanges: stack.Spec.ExpectNoRefreshChanges && (stack.Spec.Refresh || !seen.forced),
			Targets:                stack.Spec.Targets,
			TargetDependents:       stack.Spec.TargetDependents,
			RunProgram:             stack.Spec.RunProgram,
		},
		Exists:       stack.Status.ProjectInfo != nil,
		Known:        stackstatus.KnownProject(stack),
		KnownBackend: stackstatus.KnownBackend(stack),
		BackendKey:   seen.inputs.BackendKey,
		MustExist:    stackstatus.MustExist(stack),
		InspectFirst: stackstatus.MustInspect(stack, operation),
		NoCreate:     stack.Spec.UseLocalStackOnly,

		SecretsProvider: stack.Spec.SecretsProvider,
		Environments:    stack.Spec.Environment,
		Timeout:         stack.GetTimeout(),
		Outputs:         wantedOutputs(stack, seen, operation),
		Interrupted:     interruptedRuns(stack, operation, r.Holder),
		Steps:           kind.OnRequest,
		Workspace:       r.workspaceOf(stack),
	}
	if operation == run.Recover {
		todo.UnknownCreates = stack.Status.UnknownCreates
		todo.ClearPendingCreates = stack.Spec.PendingCreates == v1.PendingCreatesClear
	}
	return todo
}

// projectOf returns the project of a run. An update or preview takes it from the program,
// any other run from an earlier run, if there was one.
func projectOf(stack *v1.Stack, seen *observed, operation run.Operation) run.Project {
	fromProgram := run.KindOf(operation).Program == run.ProgramAlways
	if info := stack.Status.ProjectInfo; !fromProgram && info != nil && info.Name != "" {
		return run.Project{Name: info.Name, Runtime: info.Runtime}
	}
	return seen.program.Project
}

// backend returns where the state lives. It is always explicit, so that the Pulumi.yaml
// of a program cannot choose another.
func backend(stack *v1.Stack, env map[string]string) string {
	if stack.Spec.Backend != "" {
		return stack.Spec.Backend
	}
	if url := env[grammar.BackendVariable]; url != "" {
		return url
	}
	return v1.DefaultBackend
}
