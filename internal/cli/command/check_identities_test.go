// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// controller creates the Deployment of a controller with the arguments.
func (w *world) controller(args ...string) *appsv1.Deployment {
	w.t.Helper()
	labels := map[string]string{"app": "controller"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "pulumi-controller", Labels: map[string]string{componentLabel: controllerName}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: managerContainer, Image: "a", Args: args}}},
			},
		},
	}
	NewWithT(w.t).Expect(w.api.Create(w.t.Context(), deployment)).To(Succeed())
	w.t.Cleanup(func() { _ = w.api.Delete(context.Background(), deployment) })
	return deployment
}

func TestCheckNamesTheIdentitiesThatHaveNoEffect(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "check-identities")
	for name, annotations := range map[string]map[string]string{
		"network": {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/network", "pulumi.com/token-audiences": "vault=https://vault"},
		"plain":   {"unrelated": "x"},
		"unused":  {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/unused"},
	} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Annotations: annotations}}
		g.Expect(w.api.Create(t.Context(), account)).To(Succeed())
	}
	for name, account := range map[string]string{"b": "network", "a": "network", "plain": "plain", "none": "", "missing": "missing"} {
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Spec: v1.StackSpec{
			Stack: "dev", ProgramRef: &v1.ProgramReference{Name: name}, ServiceAccountName: account,
		}}
		g.Expect(w.api.Create(t.Context(), stack)).To(Succeed())
		t.Cleanup(func() { _ = w.api.Delete(context.Background(), stack, client.GracePeriodSeconds(0)) })
	}
	w.deployAsIfByKubernetes()
	const network, why = "⚠️ pulumi-controller: service account check-identities/network of Stack check-identities/a has ", ", which has no effect on runs: set --feature-gates=ObjectLevelWorkloadIdentity=true\n"
	deployment := w.controller()
	done := w.run("check")
	g.Expect(done.err).To(ContainSubstring(network + "eks.amazonaws.com/role-arn, pulumi.com/token-audiences" + why))
	g.Expect(done.err).NotTo(Or(ContainSubstring("check-identities/plain"), ContainSubstring("check-identities/unused"), ContainSubstring("check-identities/missing")))

	g.Expect(w.api.Delete(t.Context(), deployment)).To(Succeed())
	deployment = w.controller("--runner=job")
	g.Expect(w.run("check").err).To(ContainSubstring(network + "pulumi.com/token-audiences" + why))

	g.Expect(w.api.Delete(t.Context(), deployment)).To(Succeed())
	w.controller("--feature-gates=ObjectLevelWorkloadIdentity=true")
	done = w.run("check")
	g.Expect(done.err).To(ContainSubstring("✔ pulumi-controller: deployment ready"))
	g.Expect(done.err).NotTo(ContainSubstring("no effect on runs"))
}
