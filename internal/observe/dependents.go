// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
)

// DependencyIndex is the index of Stacks by the Stacks they depend on.
const DependencyIndex = ".metadata.dependency"

// Dependents lists the direct dependents of a Stack. The objects are the cache's and
// must not be modified. Where references to other namespaces are denied, Stacks of other
// namespaces do not count, or one tenant could block the deletion of another's Stacks.
func (o *Observer) Dependents(ctx context.Context, key client.ObjectKey) ([]v1.Stack, error) {
	options := []client.ListOption{client.MatchingFields{DependencyIndex: key.String()}, client.UnsafeDisableDeepCopy}
	if o.NoCrossNamespaceRefs {
		options = append(options, client.InNamespace(key.Namespace))
	}
	var stacks v1.StackList
	if err := o.Cached.List(ctx, &stacks, options...); err != nil {
		return nil, fmt.Errorf("failed to list the Stacks that depend on Stack %s: %w", key, err)
	}
	return stacks.Items, nil
}

// DependentGraph leads from Stacks to their dependents.
func (o *Observer) DependentGraph(ctx context.Context) dependency.Graph {
	return func(key client.ObjectKey) ([]client.ObjectKey, error) {
		stacks, err := o.Dependents(ctx, key)
		keys := make([]client.ObjectKey, 0, len(stacks))
		for i := range stacks {
			keys = append(keys, client.ObjectKeyFromObject(&stacks[i]))
		}
		return keys, err
	}
}

// observeDependents finds the Stacks that have to be gone before this one is destroyed.
// Those that this one in turn depends on do not count: in a cycle, all would wait
// forever.
func (o *Observer) observeDependents(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	self := client.ObjectKeyFromObject(stack)
	all, err := o.allDependents(ctx, self)
	if err != nil || len(all) == 0 {
		return err
	}
	before, err := o.dependencyGraph(ctx).Reach(self)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(key client.ObjectKey) bool { return key == self || before[key] })
	for _, key := range all {
		seen.Dependents = append(seen.Dependents, key.String())
	}
	slices.Sort(seen.Dependents)
	o.recheckUncached(ctx, seen, all...)
	return nil
}
