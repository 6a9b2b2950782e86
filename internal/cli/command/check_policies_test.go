// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// A controller of one namespace that may not list PolicySets ignores them, and only its log says so.
func TestCheckSaysWhetherPolicySetsGuardTheStacksOfATeam(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "check-policies")
	w.env.PollInterval = slowPolls
	create := func(object client.Object) {
		t.Helper()
		g.Expect(w.api.Create(t.Context(), object)).To(Succeed())
		t.Cleanup(func() { _ = w.api.Delete(context.Background(), object) })
	}
	labels := map[string]string{"app": "a"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pulumi-controller", Labels: map[string]string{componentLabel: controllerName}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{ServiceAccountName: "team", Containers: []corev1.Container{
					{Name: managerContainer, Image: "a", Args: []string{"--watch-all-namespaces=false", "--runner=job"}},
				}},
			},
		},
	}
	create(deployment)
	w.deployAsIfByKubernetes()
	const none = "ServiceAccount team may not list PolicySets. If they are to guard them, grant it that with a ClusterRoleBinding\n"
	g.Expect(w.run("check").err).To(ContainSubstring("► pulumi-controller: PolicySets would not guard the Stacks of namespace check-policies: " + none))

	create(&v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: "check-policies"}, Spec: v1.PolicySetSpec{
		Packs: []v1.PolicyPack{{Name: "a", SourceRef: v1.PolicySourceReference{Kind: "GitRepository", Name: "a", Namespace: "b"}}},
	}})
	g.Expect(w.run("check").err).To(ContainSubstring("⚠️ pulumi-controller: no PolicySet guards the Stacks of namespace check-policies: " + none))

	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "check-policies"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"policysets"}, Verbs: []string{"list", "watch"}},
	}}
	create(role)
	create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "check-policies"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: "team"}},
	})
	g.Eventually(func() string { return w.run("check").err }, "1m").Should(
		ContainSubstring("► pulumi-controller: PolicySets guard the Stacks of namespace check-policies\n"), "the authorizer has a cache of roles")
}
