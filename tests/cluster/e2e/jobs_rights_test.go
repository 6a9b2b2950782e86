// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// tokenFile is the path of the account's token in each pod.
const tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// lookAtRights uses the tokens that programs of two teams find in their pods, while both have runs in flight.
func (w *world) lookAtRights() {
	other := w.otherTeam()
	for _, team := range []*world{w, other} {
		w.Expect(w.Create(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team.tenant, Name: "canary"}})).To(Succeed())
	}
	before, beforeOther := len(w.updates("inline")), len(other.updates("other"))
	all := w.beginJobs(begins{w, "inline", "asked", severalPods}, begins{other, "other", "asked", severalPods})
	ours, theirs := all[0], all[1]
	w.Expect(ours.pod.Spec.ServiceAccountName).To(Equal(ours.run.Job), "an account of its own")
	w.Expect(theirs.pod.Spec.ServiceAccountName).To(Equal("deployer"))

	token := w.tokenIn(ours.pod)
	w.mayOnly(token, w.tenant, ours.run.Job, other.tenant, theirs.run.Job)
	other.mayOnly(other.tokenIn(theirs.pod), other.tenant, theirs.run.Job, w.tenant, ours.run.Job)

	w.awaitValue("inline", "asked")
	other.awaitValue("other", "asked")
	w.updatedOnce("inline", before)
	other.updatedOnce("other", beforeOther)
	w.Eventually(func() error {
		return w.with(token).Get(w.ctx, client.ObjectKey{Namespace: w.tenant, Name: ours.run.Job}, &corev1.Secret{})
	}).Should(Satisfy(apierrors.IsUnauthorized), "the token goes with the run")
}

// tokenIn returns the token that a program finds in the pod.
func (w *world) tokenIn(pod corev1.Pod) string {
	w.test.Helper()
	return strings.TrimSpace(w.kubectl("--namespace", w.tenant, "exec", pod.Name, "--container=pulumi", "--", "busybox", "cat", tokenFile))
}

// with returns a client that uses the token.
func (w *world) with(token string) client.Client {
	w.test.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.kubeconfig)
	w.Expect(err).NotTo(HaveOccurred())
	config = rest.AnonymousClientConfig(config)
	config.BearerToken, config.QPS = token, -1
	found, err := client.New(config, client.Options{Scheme: w.Scheme()})
	w.Expect(err).NotTo(HaveOccurred())
	return found
}

// mayOnly checks what the API server says about the token, and tries it.
func (w *world) mayOnly(token, namespace, own, elsewhere, anothers string) {
	w.test.Helper()
	as := w.with(token)
	w.Expect(as.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: own}, &corev1.Secret{})).To(Succeed())
	w.Expect(w.Get(w.ctx, client.ObjectKey{Namespace: elsewhere, Name: anothers}, &corev1.Secret{})).To(Succeed(), "it is there")
	inNamespace := metav1.ObjectMeta{Namespace: namespace, Name: own}
	for what, try := range map[string]error{
		"get another Secret":         as.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: "canary"}, &corev1.Secret{}),
		"get another tenant's run":   as.Get(w.ctx, client.ObjectKey{Namespace: elsewhere, Name: anothers}, &corev1.Secret{}),
		"get another tenant's":       as.Get(w.ctx, client.ObjectKey{Namespace: elsewhere, Name: "canary"}, &corev1.Secret{}),
		"list Secrets":               as.List(w.ctx, &corev1.SecretList{}, client.InNamespace(namespace)),
		"list another tenant's":      as.List(w.ctx, &corev1.SecretList{}, client.InNamespace(elsewhere)),
		"list the controller's":      as.List(w.ctx, &corev1.SecretList{}, client.InNamespace(fluxSystem)),
		"list all Secrets":           as.List(w.ctx, &corev1.SecretList{}),
		"list ConfigMaps":            as.List(w.ctx, &corev1.ConfigMapList{}, client.InNamespace(namespace)),
		"list pods":                  as.List(w.ctx, &corev1.PodList{}, client.InNamespace(namespace)),
		"list Stacks":                as.List(w.ctx, &v1.StackList{}, client.InNamespace(namespace)),
		"get its Role":               as.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: own}, &rbacv1.Role{}),
		"delete its Secret":          as.Delete(w.ctx, &corev1.Secret{ObjectMeta: inNamespace}),
		"make a Secret":              as.Create(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "made"}}),
		"make a pod":                 as.Create(w.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "made"}}),
		"list nodes":                 as.List(w.ctx, &corev1.NodeList{}),
		"patch another Secret":       as.Patch(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "canary"}}, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a":null}}`))),
		"patch another tenant's run": as.Patch(w.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: anothers}}, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a":null}}`))),
	} {
		w.Expect(apierrors.IsForbidden(try)).To(BeTrue(), "%s: %v", what, try)
	}
	// The same as kubectl auth can-i --list.
	for _, where := range []string{namespace, elsewhere, fluxSystem} {
		review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: where}}
		w.Expect(as.Create(w.ctx, review)).To(Succeed())
		w.Expect(review.Status.Incomplete).To(BeFalse())
		var found []authorizationv1.ResourceRule
		for _, rule := range review.Status.ResourceRules {
			if !strings.HasPrefix(rule.Resources[0], "self") { // anybody may ask about themselves
				found = append(found, rule)
			}
		}
		if where != namespace {
			w.Expect(found).To(BeEmpty(), where)
			continue
		}
		w.Expect(found).To(ConsistOf(authorizationv1.ResourceRule{
			APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{own}, Verbs: []string{"get", "patch"},
		}))
	}
}
