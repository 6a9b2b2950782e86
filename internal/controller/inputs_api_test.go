// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// TestListedObjectsAreWatched has no Stack that polls within the hour.
func TestListedObjectsAreWatched(t *testing.T) {
	t.Parallel()
	c := sharedCluster(t)
	for name, use := range map[string]struct {
		change func(*v1.StackSpec)
		object client.Object
		edit   func(client.Object)
	}{
		"envs": {
			func(s *v1.StackSpec) { s.Envs = []string{"listed"} },
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "listed"}, Data: map[string]string{"A": "1"}},
			func(o client.Object) { o.(*corev1.ConfigMap).Data["A"] = "2" },
		},
		"envsecrets": {
			func(s *v1.StackSpec) { s.EnvSecrets = []string{"listed"} },
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "listed"}, Data: map[string][]byte{"A": []byte("1")}},
			func(o client.Object) { o.(*corev1.Secret).Data["A"] = []byte("2") },
		},
		"accesstokensecret": {
			func(s *v1.StackSpec) { s.AccessTokenSecret = "listed" },
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "listed"}, Data: map[string][]byte{"accessToken": []byte("1")}},
			func(o client.Object) { o.(*corev1.Secret).Data["accessToken"] = []byte("2") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := c.tenant(t)
			u.createStack("a", func(s *v1.Stack) { use.change(&s.Spec) })
			u.Eventually(func() string {
				for _, condition := range u.stack("a").Status.Conditions {
					if condition.Type == "Ready" {
						return condition.Reason
					}
				}
				return ""
			}).Should(Equal(v1.InputsFailedReason), "it is not there yet")
			u.create(use.object)
			u.awaitReady("a")
			u.Expect(u.runner.done(u.namespace)).To(Equal([]string{"update a"}))
			use.edit(use.object)
			u.Expect(u.Update(u.ctx, use.object)).To(Succeed())
			u.Eventually(func() []string { return u.runner.done(u.namespace) }).Should(Equal([]string{"update a", "update a"}))
		})
	}
}
