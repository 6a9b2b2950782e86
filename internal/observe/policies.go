// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/policy/packs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// Policies are the policy packs for the runs of a Stack.
type Policies struct {
	// Packs that could be resolved, in order.
	Packs []run.PolicyPack
	// Digest of all packs, "" if there are none, or if one could not be resolved.
	Digest string
	// Unresolved is why a pack that is not enforced could not be resolved, nil if all could.
	Unresolved *decide.Problem
}

// For returns the packs of a kind of run.
func (p Policies) For(kind run.Kind) []run.PolicyPack {
	switch kind.Policies {
	case run.PoliciesEnforced:
		return policy.Enforced(p.Packs)
	case run.PoliciesAll:
		return p.Packs
	}
	return nil
}

// observePolicies finds the PolicySets that select the Stack, and resolves their packs if a
// program may run. Where there is no PolicySet, it only looks into an empty cache.
//
// A pack that cannot be used is no Problem of the Stack like others: what runs no program needs
// no packs. That is so whatever the error is, as it must not hold up a recovery or a suspension.
// The only error is that the reconcile has ended.
func (o *Observer) observePolicies(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	if seen.Deleting {
		return nil
	}
	selected, err := o.selectPolicySets(ctx, stack)
	if ofReader := (*deniedToReaderError)(nil); errors.As(err, &ofReader) {
		return nil // the plugin says what its user may not read
	}
	if err != nil {
		// It is not known which packs guard the Stack.
		seen.Policies.Selected, seen.Policies.Problem = true, packProblem(stack, seen, err)
		return ctx.Err()
	}
	for _, of := range selected {
		seen.Policies.Selected, seen.Policies.Sets = true, append(seen.Policies.Sets, of.Set.Name)
	}
	if len(selected) == 0 || seen.Suspended {
		return nil
	}
	o.resolvePolicies(ctx, stack, seen, selected)
	return ctx.Err()
}

// resolvePolicies resolves the packs of the PolicySets.
func (o *Observer) resolvePolicies(ctx context.Context, stack *v1.Stack, seen *Observation, selected []policy.Selection) {
	for _, of := range selected {
		resolved, err := o.resolvePolicySet(ctx, of)
		seen.Packs.Packs = append(seen.Packs.Packs, resolved...)
		switch {
		case err == nil:
		case of.Set.Enforces():
			seen.Policies.Problem = firstOf(seen.Policies.Problem, packProblem(stack, seen, err))
		default:
			seen.Packs.Unresolved = firstOf(seen.Packs.Unresolved, packProblem(stack, seen, err))
		}
	}
	var err error
	if seen.Policies.Enforced, err = policy.Digest(policy.Enforced(seen.Packs.Packs)); err != nil {
		seen.Policies.Problem = firstOf(seen.Policies.Problem, packProblem(stack, seen, err))
	}
	if seen.Policies.Problem != nil || seen.Packs.Unresolved != nil {
		return
	}
	if seen.Packs.Digest, err = policy.Digest(seen.Packs.Packs); err != nil {
		seen.Packs.Unresolved = packProblem(stack, seen, err)
	}
}

// digestPolicies computes the digest of the packs and of the inputs, once both are known.
func (seen *Observation) digestPolicies() {
	if seen.Packs.Digest != "" && seen.Digest != "" {
		seen.Policies.Digest = inputs.PolicyDigest(seen.Packs.Digest, seen.Digest)
	}
}

// resolvePolicySet returns the packs of a PolicySet that can be used, and why another cannot be.
func (o *Observer) resolvePolicySet(ctx context.Context, of policy.Selection) ([]run.PolicyPack, error) {
	if of.Err != nil {
		return nil, &packs.ConfigError{Err: fmt.Errorf("PolicySet %s: %w", of.Set.Name, of.Err)}
	}
	resolver := packs.Resolver{Sources: o.PackSources, ConfigMaps: o.APIReader, Configs: o.PackConfigs, Watch: o.WatchSource}
	var resolved []run.PolicyPack
	var failed error
	for i := range of.Set.Spec.Packs {
		pack, err := resolver.Pack(ctx, of.Set, &of.Set.Spec.Packs[i])
		switch {
		case err == nil:
			resolved = append(resolved, pack)
		case failed == nil:
			failed = err
		}
	}
	return resolved, failed
}

func firstOf(first, problem *decide.Problem) *decide.Problem {
	if first != nil {
		return first
	}
	return problem
}

// packProblem returns why packs cannot be used. An edit of the Stack does not help, so that it is
// never terminal. An error of the API server is looked at again soon, and says nothing of whether
// the Stack complies.
func packProblem(stack *v1.Stack, seen *Observation, err error) *decide.Problem {
	config, problem := (*packs.ConfigError)(nil), problemOf(err)
	isKnown := problem != nil || errors.As(err, &config)
	seen.Policies.Unreadable = seen.Policies.Unreadable || !isKnown
	if problem == nil {
		problem = &decide.Problem{Message: err.Error()}
	}
	problem.Reason, problem.Terminal, problem.Awaited = v1.PolicyPackFailedReason, false, problem.Fetching
	if !isKnown || errors.Is(err, source.ErrNotServed) {
		problem.Since = stackstatus.NotReadySince(stack, problem.Reason, seen.Now)
	}
	return problem
}

// selectPolicySets finds the PolicySets that select the Stack, by name.
func (o *Observer) selectPolicySets(ctx context.Context, stack *v1.Stack) ([]policy.Selection, error) {
	sets, err := o.policySets(ctx)
	if err != nil || len(sets) == 0 {
		return nil, err
	}
	subject := policy.Subject{Labels: stack.Labels}
	if slices.ContainsFunc(sets, func(set v1.PolicySet) bool { return policy.NeedsNamespaces(&set) }) {
		if subject.Namespace, err = o.namespaceLabels(ctx, stack.Namespace); err != nil {
			return nil, err
		}
	}
	return policy.Select(sets, subject), nil
}

// policySets returns the PolicySets of the cluster. They are the cache's and must not be modified.
func (o *Observer) policySets(ctx context.Context) ([]v1.PolicySet, error) {
	if o.WatchPolicySets != nil {
		if watched, err := o.WatchPolicySets(ctx); err != nil || !watched {
			return nil, err
		}
	}
	var sets v1.PolicySetList
	err := o.Cached.List(ctx, &sets, client.UnsafeDisableDeepCopy)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil // the cluster does not serve them, so that there is none
	}
	if err != nil {
		return nil, fmt.Errorf("failed to list the PolicySets: %w", err)
	}
	return sets.Items, nil
}
