// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// forbidding denies reading some objects.
type forbidding struct {
	client.Client
	denies func(client.Object) (resource schema.GroupResource, denied bool)
}

func (f forbidding) Get(ctx context.Context, k client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if resource, denied := f.denies(o); denied {
		return forbidden(resource, k.Name)
	}
	return f.Client.Get(ctx, k, o, options...)
}

// forbidden is the response of the API server to a client that lacks the right.
func forbidden(resource schema.GroupResource, name string) error {
	return apierrors.NewForbidden(resource, name, errors.New(`User "controller" cannot get it in the namespace "default"`))
}

func TestARightThatTheControllerLacksIsInTheStatus(t *testing.T) {
	secrets, configMaps := schema.GroupResource{Resource: "secrets"}, schema.GroupResource{Resource: "configmaps"}
	programs := schema.GroupResource{Group: "pulumi.com", Resource: "programs"}
	for name, test := range map[string]struct {
		edit     func(*v1.StackSpec)
		denied   func(client.Object) (schema.GroupResource, bool)
		reason   string
		messages []string
	}{
		"a Secret": {
			edit: func(s *v1.StackSpec) {
				s.EnvRefs = map[string]v1.ResourceRef{"T": {Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "token", Key: "k"}}}
			},
			denied:   func(o client.Object) (schema.GroupResource, bool) { _, ok := o.(*corev1.Secret); return secrets, ok },
			reason:   v1.InputsFailedReason,
			messages: []string{"spec.envRefs.T: can't read Secret 'default/token'", "grant the controller permission to get secrets"},
		},
		"a ConfigMap": {
			edit: func(s *v1.StackSpec) {
				s.ConfigRef = map[string]v1.ConfigMapRef{"c": {Name: "settings", Key: "k"}}
			},
			denied: func(o client.Object) (schema.GroupResource, bool) {
				_, ok := o.(*corev1.ConfigMap)
				return configMaps, ok
			},
			reason:   v1.InputsFailedReason,
			messages: []string{"can't read ConfigMap 'default/settings'", "grant the controller permission to get configmaps"},
		},
		"a Program": {
			edit: func(*v1.StackSpec) {},
			denied: func(o client.Object) (schema.GroupResource, bool) {
				return programs, o.GetObjectKind().GroupVersionKind().Kind == v1.ProgramKind
			},
			reason:   meta.ArtifactFailedReason,
			messages: []string{"failed to read Program default/app", "grant the controller permission to get programs.pulumi.com"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			w.mustReconcile()
			w.endRun(run.Succeeded, "", run.Changes{})
			allowed, allowedReader := w.Client, w.APIReader
			w.Client, w.APIReader = forbidding{w.Client, test.denied}, forbidding{w.Client, test.denied}
			w.edit(func(s *v1.Stack) { test.edit(&s.Spec) })

			result := w.mustReconcile()
			stack := w.stack()
			g.Expect(conditions.IsFalse(stack, meta.ReadyCondition)).To(BeTrue())
			g.Expect(conditions.IsReconciling(stack)).To(BeTrue())
			g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(test.reason))
			for _, message := range test.messages {
				g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring(message))
			}
			g.Expect(result.RequeueAfter).To(Equal(stack.GetRetryInterval()))
			writes := w.writes
			w.mustReconcile()
			g.Expect(w.writes).To(Equal(writes))

			w.Client, w.APIReader = allowed, allowedReader
			w.edit(func(s *v1.Stack) { s.Spec.EnvRefs, s.Spec.ConfigRef = nil, nil })
			w.mustReconcile()
			g.Expect(conditions.IsReady(w.stack())).To(BeTrue(), "and it passes with the right")
		})
	}
}

func TestASourceThatMayNotBeReadIsInTheStatus(t *testing.T) {
	g := NewWithT(t)
	w, from := appliedWorld(t)
	resource := schema.GroupResource{Group: "source.toolkit.fluxcd.io", Resource: "gitrepositories"}
	from.err = fmt.Errorf("can't read 'GitRepository/default/app': %w", forbidden(resource, "app"))
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(meta.ArtifactFailedReason))
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(
		HaveSuffix("grant the controller permission to get gitrepositories.source.toolkit.fluxcd.io"))

	from.err = errors.New("connection refused")
	_, err := w.reconcile()
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")), "an error of the API server is returned, not reported on the Stack")
}
