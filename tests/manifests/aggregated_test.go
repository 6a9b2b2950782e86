// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// testAggregated expects the roles that the default roles of Kubernetes have as their parts to allow what the pages say,
// and nothing else: neither the status of a Stack, nor its finalizers, nor objects of other kinds.
func testAggregated(t *testing.T, all installations) {
	g := NewWithT(t)
	ours := []string{"stacks", "programs"}
	want := map[string][]rbacv1.PolicyRule{
		"pulumi-view": {
			{APIGroups: []string{"pulumi.com"}, Resources: ours, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"pulumi.com"}, Resources: []string{"policysets"}, Verbs: []string{"get", "list", "watch"}},
		},
		"pulumi-edit": {{APIGroups: []string{"pulumi.com"}, Resources: ours,
			Verbs: []string{"create", "delete", "deletecollection", "patch", "update"}}},
	}
	for _, name := range []string{"config/rbac", "config/default", "config/controller", "config/sharding with config/multi-tenancy"} {
		got := map[string][]rbacv1.PolicyRule{}
		for _, object := range all[name] {
			if object.GetKind() != "ClusterRole" || want[object.GetName()] == nil {
				continue
			}
			var role rbacv1.ClusterRole
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role)).To(Succeed())
			got[role.Name] = role.Rules
		}
		g.Expect(got).To(Equal(want), name)
	}
}
