// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/holder"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// newRun assembles all that a run needs, of whatever kind.
func (r *StackReconciler) newRun(stack *v1.Stack, seen *observe.Observation, kind run.Kind, id string) run.Run {
	operation := kind.Operation
	todo := run.Run{
		ID:        id,
		Namespace: stack.Namespace,
		Name:      stack.Name,
		UID:       string(stack.UID),
		Operation: operation,
		Revision:  seen.Program.Revision,
		Stack:     stack.Spec.Stack,
		Backend:   observe.Backend(stack, seen.Inputs.Env),
		Project:   projectOf(stack, seen, operation),
		Program:   seen.Program.Program,
		Env:       seen.Inputs.Env,
		Config:    seen.Inputs.Config,
		Secrets:   seen.Inputs.Secrets,
		Masks:     seen.Inputs.Masks,
		Account:   run.ServiceAccount{Namespace: stack.Namespace, Name: seen.Account},
		Identity:  seen.Identity,
		Options: run.Options{
			Refresh: stack.Spec.Refresh || seen.Forced,
			// Without spec.refresh, a forced run must not fail on drift, which it is there
			// to fix. Any other refreshes only if its Pulumi.yaml says so.
			ExpectNoRefreshChanges: stack.Spec.ExpectNoRefreshChanges && (stack.Spec.Refresh || !seen.Forced),
			Targets:                stack.Spec.Targets,
			TargetDependents:       stack.Spec.TargetDependents,
			RunProgram:             stack.Spec.RunProgram,
		},
		Exists:       stack.Status.ProjectInfo != nil,
		Known:        stackstatus.KnownProject(stack),
		KnownBackend: stackstatus.KnownBackend(stack),
		BackendKey:   seen.Inputs.BackendKey,
		MustExist:    stackstatus.MustExist(stack),
		InspectFirst: stackstatus.MustInspect(stack, operation),
		NoCreate:     stack.Spec.UseLocalStackOnly,

		SecretsProvider: stack.Spec.SecretsProvider,
		Environments:    stack.Spec.Environment,
		Timeout:         stack.GetTimeout(),
		Outputs:         wantedOutputs(stack, seen, operation),
		Policies:        seen.Packs.For(kind),
		WantsPlan:       kind.OnRequest,
		Workspace:       seen.Workspace,
	}
	if operation == run.CheckDrift {
		todo.Options = run.Options{RunProgram: stack.Spec.RunProgram} // of the whole stack, whatever an update is limited to
		if stack.Spec.Drift != nil {
			todo.IgnoreDrift = stack.Spec.Drift.Ignore
		}
	}
	if operation == run.CheckPolicies {
		todo.Options = run.Options{} // of the whole stack too, and as it is in the state
	}
	if operation == run.Recover {
		todo.Interrupted = holder.Interrupted(stack.Status.Interrupted, r.Holder)
		todo.UnknownCreates = stack.Status.UnknownCreates
		todo.ClearPendingCreates = stack.Spec.PendingCreates == v1.PendingCreatesClear
	}
	return todo
}

// projectOf returns the project of a run. An update or preview takes it from the program,
// any other run from an earlier run, if there was one.
func projectOf(stack *v1.Stack, seen *observe.Observation, operation run.Operation) run.Project {
	fromProgram := run.KindOf(operation).Program == run.ProgramAlways
	if info := stack.Status.ProjectInfo; !fromProgram && info != nil && info.Name != "" {
		return run.Project{Name: info.Name, Runtime: info.Runtime}
	}
	return seen.Program.Project
}

// wantedOutputs returns the outputs that a run has to read.
func wantedOutputs(stack *v1.Stack, seen *observe.Observation, operation run.Operation) *run.WantedOutputs {
	if !run.KindOf(operation).ReadsOutputs || !stackstatus.WritesOutputs(stack) || seen.Outputs.Blocked != "" {
		return nil
	}
	return &run.WantedOutputs{Keys: slices.Clone(stack.Spec.WriteOutputsToSecret.Keys)}
}
