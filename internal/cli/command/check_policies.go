// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
)

// warnOfPolicySets says whether PolicySets guard the Stacks of a controller that serves one namespace only. If it
// may not list them, it runs its Stacks without, and no status says so: a PolicySet only counts them as unchecked.
func (s *session) warnOfPolicySets(ctx context.Context, api client.Client, deployment *appsv1.Deployment, flags lockdown.Flags) {
	if flags.WatchAllNamespaces {
		return
	}
	account := cmp.Or(deployment.Spec.Template.Spec.ServiceAccountName, "default")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:" + deployment.Namespace + ":" + account,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + deployment.Namespace, "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: v1.GroupVersion.Group, Version: v1.GroupVersion.Version, Resource: cluster.PolicySet().Plural, Verb: "list",
		},
	}}
	if err := api.Create(ctx, review); err != nil {
		s.Warningf("%s: cannot find out whether PolicySets guard the Stacks of namespace %s, which needs the right of ServiceAccount %s to list PolicySets: %v",
			deployment.Name, deployment.Namespace, account, err)
		return
	}
	if review.Status.Allowed {
		s.Actionf("%s: PolicySets guard the Stacks of namespace %s", deployment.Name, deployment.Namespace)
		return
	}
	sets := &v1.PolicySetList{}
	const why = "ServiceAccount %s may not list PolicySets. If they are to guard them, grant it that with a ClusterRoleBinding"
	if err := api.List(ctx, sets, client.Limit(1)); err == nil && len(sets.Items) == 0 {
		s.Actionf("%s: PolicySets would not guard the Stacks of namespace %s: "+why, deployment.Name, deployment.Namespace, account)
		return
	}
	s.Warningf("%s: no PolicySet guards the Stacks of namespace %s: "+why, deployment.Name, deployment.Namespace, account)
}
