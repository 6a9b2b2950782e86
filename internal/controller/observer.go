// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// observer returns what observes the Stacks of this reconciler.
func (r *StackReconciler) observer() *observe.Observer {
	o := &observe.Observer{
		Cached: r.Client, APIReader: r.APIReader, Runner: r.Runner, Holder: r.Holder, Holders: r.Holders,
		Sources: r.Sources, WatchSource: r.watches.Ensure, PackSources: r.PackSources, PackConfigs: r.configs,
		WatchPolicySets: r.policies.EnsureSets, WatchNamespaces: r.policies.EnsureNamespaces, Programs: r.checks, CheckProgram: r.CheckProgram,
		Expressions: r.expressions, Results: r.results, InventoryRetryAt: r.unwritten.RetryAt, Now: r.Now,
		Options: r.Options,
	}
	if r.Jobs != nil {
		o.Options.Jobs, o.NamespaceEnds = true, r.Jobs.NamespaceEnds
	}
	return o
}

// observe observes a Stack. What is due for its Git objects is done before anything else that
// depends on its program, and the values for a run are read if one is due.
func (r *StackReconciler) observe(ctx context.Context, stack *v1.Stack) (*observe.Observation, error) {
	o := r.observer()
	seen, err := o.Observe(ctx, stack)
	if err == nil && decide.Next(seen.Observation).Action == decide.KeepGitObjects {
		seen, err = o.ObserveAfter(ctx, stack, r.keepGitObjects(ctx, stack, seen.Upkeep))
	}
	if err != nil || !seen.HasNoValues() {
		return seen, err
	}
	switch decide.Next(seen.Observation).Action {
	case decide.Start, decide.PreviewOnRequest:
		return o.ObserveValues(ctx, stack, seen)
	}
	return seen, nil
}

// refOf identifies the recorded run.
func refOf(stack *v1.Stack) run.Ref {
	return run.Ref{ID: stack.Status.Run.ID, Namespace: stack.Namespace, Name: stack.Name}
}
