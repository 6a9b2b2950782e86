// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/acl"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// checkOrder refuses invalid dependencies and prerequisites. Waiting fixes none of them.
func (r *StackReconciler) checkOrder(ctx context.Context, stack *v1.Stack, seen *observed) error {
	if len(stack.Spec.DependsOn) == 0 && len(stack.Spec.Prerequisites) == 0 {
		return nil
	}
	self := client.ObjectKeyFromObject(stack)
	for i, d := range stack.Spec.DependsOn {
		switch key := dependency.KeyOf(stack, d); {
		case key == self:
			return &invalidSpecError{fmt.Errorf("spec.dependsOn[%d]: Stack %s cannot depend on itself", i, self)}
		case r.NoCrossNamespaceRefs && key.Namespace != stack.Namespace:
			return acl.AccessDeniedError(fmt.Sprintf("spec.dependsOn[%d]: Stack %s is in another namespace, which the controller does not allow", i, key))
		}
	}
	for i, p := range stack.Spec.Prerequisites {
		if p.Name == stack.Name {
			return &invalidSpecError{fmt.Errorf("spec.prerequisites[%d]: Stack %s cannot depend on itself", i, self)}
		}
	}
	if len(stack.Spec.DependsOn) > 0 {
		if _, err := r.expressions.For(stack); err != nil {
			return &invalidSpecError{err}
		}
	}
	cycle, err := r.dependencyGraph(ctx).Cycle(self)
	if err != nil {
		return err
	}
	if cycle != nil {
		r.noteUntold(ctx, seen, cycle...)
		return &invalidSpecError{fmt.Errorf("the Stacks depend on each other in a cycle: %s. Remove one of these dependencies", dependency.CycleText(cycle))}
	}
	return nil
}

// observeOrder finds the Stacks that have to come before the next run of this one.
func (r *StackReconciler) observeOrder(ctx context.Context, stack *v1.Stack, seen *observed) (err error) {
	switch {
	case seen.Deleting:
		err = r.observeDependents(ctx, stack, seen)
	case seen.Problem == nil || !seen.Problem.Terminal:
		err = r.observeDependencies(ctx, stack, seen)
	}
	return err
}

// observeDependencies finds the dependencies and prerequisites that are not ready, and
// why.
func (r *StackReconciler) observeDependencies(ctx context.Context, stack *v1.Stack, seen *observed) error {
	evaluating, cancel := context.WithTimeout(ctx, dependency.EvaluationTime)
	defer cancel()
	for i, d := range stack.Spec.DependsOn {
		key := dependency.KeyOf(stack, d)
		found, err := r.findStack(ctx, key)
		if err != nil {
			return err
		}
		why := "not found"
		if found != nil {
			if why, err = r.whyNot(evaluating, stack, found, i, seen.program.Revision); err != nil {
				return err
			}
		}
		r.unready(ctx, seen, key, why)
	}
	for _, p := range stack.Spec.Prerequisites {
		key := client.ObjectKey{Namespace: stack.Namespace, Name: p.Name}
		found, err := r.findStack(ctx, key)
		if err != nil {
			return err
		}
		why, stale := "not found", false
		if found != nil {
			why, stale = dependency.WhyUnmet(p.Requirement, stack, found, seen.program.Revision, seen.Now)
		}
		if stale {
			seen.stale, seen.StalePrerequisites = append(seen.stale, found), true
		}
		r.unready(ctx, seen, key, why)
	}
	return nil
}

func (r *StackReconciler) unready(ctx context.Context, seen *observed, key client.ObjectKey, why string) {
	if why == "" {
		return
	}
	// One Stack may be both a dependency and a prerequisite.
	if text := fmt.Sprintf("Stack %s %s", key, why); !slices.Contains(seen.Unready, text) {
		seen.Unready = append(seen.Unready, text)
	}
	r.noteUntold(ctx, seen, key)
}

// whyNot returns why a dependency is not ready, by its readyExpr if it has one, and by
// the built-in check otherwise.
func (r *StackReconciler) whyNot(ctx context.Context, stack, found *v1.Stack, place int, revision string) (string, error) {
	expressions, err := r.expressions.For(stack)
	if err != nil {
		return "", &invalidSpecError{err}
	}
	expression := expressions[place]
	if expression == nil || r.AdditiveCELDependencyCheck {
		if why := dependency.WhyNot(stack, found, revision); why != "" || expression == nil {
			return why, nil
		}
	}
	return dependency.WhyNotBy(ctx, expression, stack, found), nil
}

// findStack reads a Stack, and returns nil if there is none. A miss in a partial cache
// falls back to the API server.
func (r *StackReconciler) findStack(ctx context.Context, key client.ObjectKey) (*v1.Stack, error) {
	stack := &v1.Stack{}
	err := r.Get(ctx, key, stack)
	if err != nil && r.PartialCache {
		err = r.APIReader.Get(ctx, key, stack)
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
func (r *StackReconciler) dependencyGraph(ctx context.Context) dependency.Graph {
	return func(key client.ObjectKey) ([]client.ObjectKey, error) {
		stack, err := r.findStack(ctx, key)
		if err != nil || stack == nil {
			return nil, err
		}
		return dependency.Edges(stack, r.NoCrossNamespaceRefs), nil
	}
}

// runPrerequisites asks for new runs of prerequisites that are too old.
func (r *StackReconciler) runPrerequisites(ctx context.Context, stale []*v1.Stack) error {
	for _, prerequisite := range stale {
		if err := r.runAgain(ctx, prerequisite); err != nil {
			return err
		}
	}
	return nil
}

// wait announces once what the Stack waits for. A reconcile request stays unhandled until the run that it asks for.
func (r *StackReconciler) wait(ctx context.Context, stack *v1.Stack, seen *observed, decision decide.Decision) error {
	before := conditions.Get(stack, meta.ReadyCondition)
	if err := r.patchStatus(ctx, stack, func() {
		if seen.Deleting {
			stackstatus.MarkWaiting(stack, decision.Message)
			return
		}
		stackstatus.MarkFailed(stack, decision.Reason, decision.Message)
	}); err != nil {
		return err
	}
	if !stackstatus.IsReported(before, decision) {
		r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeNormal, Reason: decision.Reason, Message: decision.Message})
	}
	return nil
}

// runAgain asks a prerequisite to run again, unless a request is open or this one was
// made before and led to nothing.
func (r *StackReconciler) runAgain(ctx context.Context, stack *v1.Stack) error {
	request := dependency.Request(stack)
	if stackstatus.Requested(stack) || stack.Annotations[meta.ReconcileRequestAnnotation] == request {
		return nil
	}
	before := stack.DeepCopy()
	if stack.Annotations == nil {
		stack.Annotations = map[string]string{}
	}
	stack.Annotations[meta.ReconcileRequestAnnotation] = request
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Patch(ctx, stack, patch, fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("failed to ask prerequisite %s/%s to run again: %w", stack.Namespace, stack.Name, err)
	}
	return nil
}
