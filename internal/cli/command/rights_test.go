// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// allow grants the user of --as the right to read resources in the namespace.
func (w *world) allow(user string, rules ...rbacv1.PolicyRule) {
	w.t.Helper()
	g := NewWithT(w.t)
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: user}
	for i := range rules {
		rules[i].Verbs = []string{"get", "list", "watch"}
	}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: rules}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	g.Expect(w.api.Create(w.t.Context(), role)).To(Succeed())
	g.Expect(w.api.Create(w.t.Context(), binding)).To(Succeed())
	w.t.Cleanup(func() {
		_ = w.api.Delete(context.Background(), role)
		_ = w.api.Delete(context.Background(), binding)
	})
	// The API server applies a new role only once its cache has it.
	g.Eventually(func() string { return w.run("events --as " + user).err }, time.Minute).Should(ContainSubstring("No events found in"))
}

var (
	events = rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"events"}}
	stacks = rbacv1.PolicyRule{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"stacks"}}
)

// withSourceElsewhere creates a Stack with its source in namespace default, and an event
// for each.
func (w *world) withSourceElsewhere() {
	w.t.Helper()
	g := NewWithT(w.t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "network"}}
	stack.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": w.namespace}
	stack.Spec.Stack = "dev"
	stack.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository", Namespace: "default", Name: w.namespace}}
	g.Expect(w.api.Create(w.t.Context(), stack)).To(Succeed())
	w.t.Cleanup(func() { _ = w.api.Delete(context.Background(), stack) })
	for namespace, object := range map[string]corev1.ObjectReference{
		w.namespace: {Namespace: w.namespace, Kind: "Stack", Name: "network"}, "default": {Namespace: "default", Kind: "GitRepository", Name: w.namespace},
	} {
		event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: w.namespace}, InvolvedObject: object,
			Type: corev1.EventTypeNormal, Reason: "Reported", Message: "of " + object.Kind, LastTimestamp: metav1.Time{Time: now}}
		g.Expect(w.api.Create(w.t.Context(), event)).To(Succeed())
		w.t.Cleanup(func() { _ = w.api.Delete(context.Background(), event) })
	}
}

func TestEventsOfASourceElsewhere(t *testing.T) {
	w := newWorld(t, "events-elsewhere")
	w.allow("events-reader", events, stacks)
	w.withSourceElsewhere()
	w.golden("events_elsewhere", "events --for Stack/network", "events --for Stack/network --as events-reader")

	g := NewWithT(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out := &stopWriter{text: "of Stack", stop: stop}
	var errs strings.Builder
	env := w.env
	env.Out, env.Err = out, &errs
	exit := Run(ctx, env, append(strings.Fields("events --for Stack/network --watch --as events-reader"), "--kubeconfig", w.kubeconfig, "-n", w.namespace))
	g.Expect(exit).To(Equal(0), errs.String())
	g.Expect(out.String()).To(ContainSubstring("of Stack"))
}
