// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// observeInputs finds the program and resolves the values for a run.
func (o *Observer) observeInputs(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	if err != nil {
		return &invalidSpecError{fmt.Errorf("spec.stack: %w", err)}
	}
	if seen.Deleting {
		if err := o.observeIdentity(ctx, stack, seen); err != nil {
			return err
		}
		if err := o.observeDestroy(ctx, stack, seen, name); err != nil {
			return err
		}
		return o.digestRun(stack, seen, string(run.Destroy))
	}
	if err := checkSize(stack); err != nil {
		return &invalidSpecError{err}
	}
	if err := o.validate(stack); err != nil {
		return err
	}
	if err := o.observeIdentity(ctx, stack, seen); err != nil {
		return err
	}
	if err := o.checkOrder(ctx, stack, seen); err != nil {
		return err
	}
	if err := o.observePreviewOf(ctx, stack, seen); err != nil {
		return err
	}
	if err := seen.due(gitsource.PlanDeletion(stack)); err != nil {
		return err
	}
	if seen.Program, err = o.programFor(ctx, stack, seen, name); err != nil {
		return o.withoutProgram(ctx, stack, seen, name, err)
	}
	seen.Revision = seen.Program.Revision
	if err := o.resolveFor(ctx, stack, seen); err != nil {
		return o.withoutProgram(ctx, stack, seen, name, err)
	}
	return o.observeComparison(ctx, stack, seen)
}

// resolveFor resolves the values for a run of the program in seen.
func (o *Observer) resolveFor(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	if err := o.resolveChanged(ctx, stack, seen); err != nil {
		return err
	}
	if err := o.digestRun(stack, seen, ""); err != nil {
		return err
	}
	seen.AppliedElsewhere = stackstatus.AppliedByOperator(stack, seen.Program.Revision, seen.Program.MadeAt)
	return nil
}

// digestRun computes the digest that identifies a run by its inputs, so that a run that
// failed for lack of a credential starts again once that exists.
func (o *Observer) digestRun(stack *v1.Stack, seen *Observation, operation string) error {
	options, err := inputs.RunOptions(stack.Spec)
	if err != nil {
		return err
	}
	workspace, err := o.workspaceText(stack)
	if err != nil {
		return err
	}
	ofAccount, err := seen.Identity.Text()
	if err != nil {
		return err
	}
	in := inputs.RunInputs{
		ProgramDigest: seen.Program.Digest,
		Project:       seen.Program.Project.Name,
		Dir:           dirOf(stack),
		Stack:         stack.Spec.Stack,
		Backend:       stack.Spec.Backend,
		Inputs:        seen.inputsDigest,
		Options:       options,

		ServiceAccount: seen.Account,
		Identity:       ofAccount,
		Workspace:      workspace,
		Operation:      operation,
	}
	if operation != "" && !stack.Spec.RunProgram {
		// It works from the state alone, however the project is known.
		in.ProgramDigest, in.Project = "", ""
	}
	seen.Digest = inputs.RunDigest(in)
	if in.Options, err = inputs.PlanOptions(stack.Spec); err != nil {
		return err
	}
	seen.PlanInputs = inputs.PlanInputs{Digest: inputs.PlanDigest(in, seen.Policies.Enforced)}
	if seen.Inputs != nil {
		seen.PlanInputs.Controller = seen.Inputs.Controller
	}
	return nil
}

// observeState resolves what a run needs that works from the state alone: the variables,
// without the config, and the project. It returns false if the project is not known.
func (o *Observer) observeState(ctx context.Context, stack *v1.Stack, seen *Observation, name grammar.StackName) (bool, error) {
	envOnly := stack.DeepCopy()
	envOnly.Spec.Config, envOnly.Spec.ConfigRef, envOnly.Spec.SecretsRef, envOnly.Spec.Secrets = nil, nil, nil, nil
	seen.Program.Declared = nil // the state needs no config
	if err := o.resolve(ctx, envOnly, seen); err != nil {
		return false, err
	}
	if info := stack.Status.ProjectInfo; info != nil && info.Name != "" {
		seen.Program.Project = run.Project{Name: info.Name, Runtime: info.Runtime}
		return true, nil
	}
	seen.Program.Project = run.Project{Name: name.Project}
	return name.Project != "", nil
}

// observeDestroy resolves what a destroy needs. It works from the state, so it needs
// neither the config nor, if the project is known, the program: both may be gone or
// wrong.
func (o *Observer) observeDestroy(ctx context.Context, stack *v1.Stack, seen *Observation, name grammar.StackName) (err error) {
	if stack.Spec.RunProgram {
		return o.observeProgramOfDestroy(ctx, stack, seen, name)
	}
	known, err := o.observeState(ctx, stack, seen, name)
	if err != nil {
		return err
	}
	if known {
		o.offerProgram(ctx, stack, seen)
		return nil
	}
	if err := o.validate(stack); err != nil {
		return err
	}
	if seen.Program, err = o.findProgram(ctx, stack, seen, name); err != nil {
		return fmt.Errorf("%w (the destroy needs it to find out the project of the stack: no run has recorded it, and spec.stack does not name it)", err)
	}
	return nil
}

// observeProgramOfDestroy resolves what a destroy that runs the program needs, which is
// all that an update needs.
func (o *Observer) observeProgramOfDestroy(ctx context.Context, stack *v1.Stack, seen *Observation, name grammar.StackName) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w (the destroy needs it, because spec.runProgram is set)", err)
		}
	}()
	if err := o.validate(stack); err != nil {
		return err
	}
	if seen.Program, err = o.findProgram(ctx, stack, seen, name); err != nil {
		return err
	}
	return o.resolve(ctx, stack, seen)
}

// findProgram finds the program that the Stack refers to.
func (o *Observer) findProgram(ctx context.Context, stack *v1.Stack, seen *Observation, name grammar.StackName) (Program, error) {
	if ref := stack.Spec.ProgramRef; ref != nil {
		return o.programObject(ctx, stack.Namespace, ref.Name, name.Project)
	}
	if stack.Spec.ProjectRepo != "" {
		return o.gitProgram(ctx, stack, seen)
	}
	return o.sourceProgram(ctx, stack)
}

// sourceProgram finds the program in the source of Flux that the Stack refers to.
func (o *Observer) sourceProgram(ctx context.Context, stack *v1.Stack) (Program, error) {
	ref := stack.Spec.FluxSource.SourceRef
	if err := o.watch(ref.Kind); err != nil {
		return Program{}, err
	}
	found, err := o.Sources.Resolve(ctx, stack.Namespace, ref)
	if err != nil {
		return Program{}, err
	}
	return Program{
		Program:        run.Program{Artifact: &run.Artifact{URL: found.URL, Digest: found.Digest, Dir: stack.Spec.FluxSource.Dir}},
		Revision:       found.Revision,
		OriginRevision: found.OriginRevision,
		Digest:         found.Digest,
	}, nil
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
