// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/policy/packs"
	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// maxExpressions bounds the Stacks whose compiled expressions are cached.
const maxExpressions = 4096

// StackReconcilerOptions are the options of the controller.
type StackReconcilerOptions struct {
	// RateLimiter limits the retries of reconciles that fail.
	RateLimiter runtimectrl.RateLimiterOptions
	// Waker lets the runner enqueue Stacks.
	Waker *watches.Waker
	// Configs selects the Secrets and ConfigMaps whose changes reconcile the Stacks that
	// refer to them. Nil selects all.
	Configs predicate.Predicate
	// IgnoreConfigs leaves Secrets and ConfigMaps unwatched: changes take effect at the
	// next interval.
	IgnoreConfigs bool
}

// SetupWithManager registers the controller, its indexes and its watches. A kind of Flux
// source is watched once a Stack refers to it, so that a cluster need not have them all.
func (r *StackReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, opts StackReconcilerOptions) error {
	r.expressions, r.checks = dependency.NewExpressions(maxExpressions), observe.KeepChecks(r.CheckProgram)
	for field, indexer := range stackIndexes() {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &v1.Stack{}, field, indexer); err != nil {
			return fmt.Errorf("failed to index Stacks by %s: %w", field, err)
		}
	}
	blueprint := ctrl.NewControllerManagedBy(mgr).
		For(&v1.Stack{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicates.ReconcileRequestedPredicate{}, operatorRequestedPredicate(), planDecidedPredicate(), runEndedPredicate(),
			selfChangedPredicate(), r.relabelledPredicate(), finalizerLostPredicate(), runReleasedPredicate(),
			runCancelledPredicate(), previewRequestedPredicate(), checkRequestedPredicate(),
		))).
		Watches(&v1.Stack{}, r.orderHandler()).
		Watches(&v1.Stack{},
			handler.EnqueueRequestsFromMapFunc(r.stacksThatUse(previewedIndex, objectKey)),
			builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, stackMovedPredicate()))).
		Watches(observe.NewProgramObject(),
			handler.EnqueueRequestsFromMapFunc(r.stacksThatUse(programIndex, objectKey)),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(opts.Waker).
		WithOptions(controller.Options{RateLimiter: runtimectrl.GetRateLimiter(opts.RateLimiter)})
	if !opts.IgnoreConfigs {
		r.watchConfigs(blueprint, opts.Configs)
		r.results, r.configs = observe.NewResultCache(mgr.GetCache()), packs.NewConfigs(mgr.GetCache())
	}
	built, err := blueprint.Build(r)
	if err != nil {
		return fmt.Errorf("failed to build the Stack controller: %w", err)
	}
	r.watches = watches.NewSources(built, mgr, r.stacksFrom)
	r.policies = watches.NewPolicies(built, mgr, r.Now, watches.PolicyEvents{
		PolicySet: handler.EnqueueRequestsFromMapFunc(r.stacksOfPolicySet), Predicates: []predicate.Predicate{predicate.GenerationChangedPredicate{}},
		Namespace: r.stacksIn,
	})
	r.policies.OneNamespace = r.OneNamespace
	if err := mgr.Add(r.policies); err != nil {
		return fmt.Errorf("failed to watch PolicySets: %w", err)
	}
	return nil
}
