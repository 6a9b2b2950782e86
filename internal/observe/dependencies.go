// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/runtime/acl"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
)

// checkOrder refuses invalid dependencies and prerequisites. Waiting fixes none of them.
func (o *Observer) checkOrder(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	if len(stack.Spec.DependsOn) == 0 && len(stack.Spec.Prerequisites) == 0 {
		return nil
	}
	self := client.ObjectKeyFromObject(stack)
	for i, d := range stack.Spec.DependsOn {
		switch key := dependency.KeyOf(stack, d); {
		case key == self:
			return &invalidSpecError{fmt.Errorf("spec.dependsOn[%d]: Stack %s cannot depend on itself", i, self)}
		case o.NoCrossNamespaceRefs && key.Namespace != stack.Namespace:
			return acl.AccessDeniedError(fmt.Sprintf("spec.dependsOn[%d]: cross-namespace references have been blocked, Stack %s is in another namespace", i, key))
		}
	}
	for i, p := range stack.Spec.Prerequisites {
		if p.Name == stack.Name {
			return &invalidSpecError{fmt.Errorf("spec.prerequisites[%d]: Stack %s cannot depend on itself", i, self)}
		}
	}
	if len(stack.Spec.DependsOn) > 0 {
		if _, err := o.Expressions.For(stack); err != nil {
			return &invalidSpecError{err}
		}
	}
	cycle, err := o.dependencyGraph(ctx).Cycle(self)
	if err != nil {
		return err
	}
	if cycle != nil {
		o.recheckUncached(ctx, seen, cycle...)
		return &invalidSpecError{fmt.Errorf("the Stacks depend on each other in a cycle: %s. Remove one of these dependencies", dependency.CycleText(cycle))}
	}
	return nil
}

// observeOrder finds the Stacks that have to come before the next run of this one.
func (o *Observer) observeOrder(ctx context.Context, stack *v1.Stack, seen *Observation) (err error) {
	switch {
	case seen.Deleting:
		err = o.observeDependents(ctx, stack, seen)
	case seen.Problem == nil || !seen.Problem.Terminal:
		err = o.observeDependencies(ctx, stack, seen)
	}
	return err
}

// observeDependencies finds the dependencies and prerequisites that are not ready, and
// why.
func (o *Observer) observeDependencies(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	evaluating, cancel := context.WithTimeout(ctx, dependency.EvaluationTime)
	defer cancel()
	for i, d := range stack.Spec.DependsOn {
		key := dependency.KeyOf(stack, d)
		found, err := o.findStack(ctx, key)
		if err != nil {
			return err
		}
		why := "not found"
		if found != nil {
			if why, err = o.whyNot(evaluating, stack, found, i, seen.Program.Revision); err != nil {
				return err
			}
		}
		o.unready(ctx, seen, key, why)
	}
	for _, p := range stack.Spec.Prerequisites {
		key := client.ObjectKey{Namespace: stack.Namespace, Name: p.Name}
		found, err := o.findStack(ctx, key)
		if err != nil {
			return err
		}
		why, stale := "not found", false
		if found != nil {
			why, stale = dependency.WhyUnmet(p.Requirement, stack, found, seen.Program.Revision, seen.Now)
		}
		if stale {
			seen.Stale, seen.StalePrerequisites = append(seen.Stale, found), true
		}
		o.unready(ctx, seen, key, why)
	}
	return nil
}

func (o *Observer) unready(ctx context.Context, seen *Observation, key client.ObjectKey, why string) {
	if why == "" {
		return
	}
	// One Stack may be both a dependency and a prerequisite.
	if text := fmt.Sprintf("Stack %s %s", key, why); !slices.Contains(seen.Unready, text) {
		seen.Unready = append(seen.Unready, text)
	}
	o.recheckUncached(ctx, seen, key)
}

// whyNot returns why a dependency is not ready, by its readyExpr if it has one, and by
// the built-in check otherwise.
func (o *Observer) whyNot(ctx context.Context, stack, found *v1.Stack, place int, revision string) (string, error) {
	expressions, err := o.Expressions.For(stack)
	if err != nil {
		return "", &invalidSpecError{err}
	}
	expression := expressions[place]
	if expression == nil || o.AdditiveCELDependencyCheck {
		if why := dependency.WhyNot(stack, found, revision); why != "" || expression == nil {
			return why, nil
		}
	}
	return dependency.WhyNotBy(ctx, expression, stack, found), nil
}

// findStack reads a Stack, and returns nil if there is none. A miss in a partial cache
// falls back to the API server.
func (o *Observer) findStack(ctx context.Context, key client.ObjectKey) (*v1.Stack, error) {
	stack := &v1.Stack{}
	err := o.Cached.Get(ctx, key, stack)
	if err != nil && o.PartialCache {
		err = o.APIReader.Get(ctx, key, stack)
	}
	switch {
	case err == nil:
		return stack, nil
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	}
	return nil, fmt.Errorf("failed to read Stack %s: %w", key, err)
}

// dependencyGraph leads from Stacks to their dependencies.
func (o *Observer) dependencyGraph(ctx context.Context) dependency.Graph {
	return func(key client.ObjectKey) ([]client.ObjectKey, error) {
		stack, err := o.findStack(ctx, key)
		if err != nil || stack == nil {
			return nil, err
		}
		return dependency.Edges(stack, o.NoCrossNamespaceRefs), nil
	}
}
