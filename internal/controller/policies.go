// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"

	"github.com/fluxcd/pkg/runtime/conditions"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// announcePolicies counts a check of policies if it has come to a result, and announces what is
// different from before it, unless that was announced as the end of the run.
func (r *StackReconciler) announcePolicies(ctx context.Context, before, stack *v1.Stack, announced bool) {
	reason, checked := stackstatus.ArePoliciesChecked(before, stack)
	if !checked {
		return
	}
	r.Runs.PoliciesChecked(reason)
	e, changed := stackstatus.PoliciesEvent(before, stack)
	if changed && !announced {
		r.announce(ctx, stack, e)
		return
	}
	ctrl.LoggerFrom(ctx).Info(conditions.GetMessage(stack, v1.CompliantCondition))
}

// policiesOf returns what the record of a run says of its packs, nil if it has none. A run of all
// packs and all resources counts as a check. The status has room for so many PolicySets: others
// guard the Stack all the same, and count it as unchecked.
func policiesOf(seen *observe.Observation, todo run.Run, which launch) (*v1.RunPolicies, error) {
	digest, err := policy.Digest(todo.Policies)
	if err != nil || digest == "" {
		return nil, err
	}
	is := &v1.RunPolicies{Digest: digest}
	if digest == seen.Packs.Digest && len(todo.Options.Targets) == 0 && which.drift == "" && !which.kind.OnRequest {
		is.Checks = seen.Policies.Digest
	}
	for _, pack := range todo.Policies {
		if last := len(is.Sets) - 1; last >= 0 && is.Sets[last].Name == pack.Set || len(is.Sets) == v1.MaxPolicySets {
			continue
		}
		of, err := policy.Digest(policy.OfSet(todo.Policies, pack.Set))
		if err != nil {
			return nil, err
		}
		is.Sets = append(is.Sets, v1.RunPolicySet{Name: pack.Set, Digest: of})
	}
	return is, nil
}

// setsLeftOut returns the PolicySets of the packs of a run that its record has no room for.
func setsLeftOut(todo run.Run, recorded *v1.RunPolicies) []string {
	var leftOut []string
	for _, pack := range todo.Policies {
		isRecorded := slices.ContainsFunc(recorded.Sets, func(set v1.RunPolicySet) bool { return set.Name == pack.Set })
		if !isRecorded && !slices.Contains(leftOut, pack.Set) {
			leftOut = append(leftOut, pack.Set)
		}
	}
	return leftOut
}
