// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestTheValuesOfOutputsAreHidden(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	token, all := "canary-token", `{"pw":"canary-token-and-tail"}`
	values := []string{token, all, "ab"}
	for name, test := range map[string]struct{ said, want string }{
		"as they are":       {"token canary-token, ab", "token ***, ***"},
		"the longest first": {`is {"pw":"canary-token-and-tail"}`, "is ***"},
		"a part":            {"is canary-token-and-tail", "is ***"},
		"in base64":         {"data.token: value " + base64.StdEncoding.EncodeToString([]byte(token)) + " is not allowed", "data.token: value *** is not allowed"},
		"in JSON":           {fmt.Sprintf("%q", all), `"***"`},
		"none":              {"no room", "no room"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := fmt.Errorf("failed to create Secret a/b: %w", hideValues(apierrors.NewForbidden(secrets, "out", errors.New(test.said)), values))
			g.Expect(err.Error()).To(HaveSuffix(test.want))
			g.Expect(isRefused(err)).To(BeTrue())
		})
	}
	g := NewWithT(t)
	g.Expect(hideValues(nil, values)).To(Succeed())
	long := hideValues(errors.New(strings.Repeat("x", 2*maxRefusal)), values)
	g.Expect(len(long.Error())).To(BeNumerically("<=", maxRefusal+len("...")))
}

// saying is an API server that refuses all Secrets, and quotes their values.
type saying struct {
	client.Client
	refuse func(error) error
}

func (s saying) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	return s.refuse(fmt.Errorf("value %q", base64.StdEncoding.EncodeToString(o.(*corev1.Secret).Data["token"])))
}

func (s saying) Update(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
	return s.Create(ctx, o)
}

func TestErrorsOfWritingOutputsContainNoValues(t *testing.T) {
	data := map[string][]byte{"token": []byte("canary-token")}
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "default", UID: "1"},
		Spec: v1.StackSpec{WriteOutputsToSecret: &v1.OutputsSecret{Name: "out"}}}
	for name, refuse := range map[string]func(error) error{
		"a policy":               func(err error) error { return apierrors.NewForbidden(schema.GroupResource{}, "out", err) },
		"a webhook that is away": func(err error) error { return apierrors.NewInternalError(err) },
		"a conflict":             func(err error) error { return apierrors.NewConflict(schema.GroupResource{}, "out", err) },
	} {
		for _, before := range []*corev1.Secret{nil, {ObjectMeta: metav1.ObjectMeta{Name: "out", Namespace: "default"}}} {
			g := NewWithT(t)
			w := newWorld(t)
			r := &StackReconciler{Client: saying{w.Client, refuse}}
			_, err := r.putSecret(t.Context(), stack, before, data, []string{"canary-token"})
			g.Expect(err).To(MatchError(ContainSubstring(`value "***"`)), name)
			g.Expect(apierrors.ReasonForError(err)).To(Equal(apierrors.ReasonForError(refuse(errors.New("x")))), name)
		}
	}
}

// TestErrorsOfWritingOutputsKeepVisibleValues: what the status shows to everyone is not
// masked.
func TestErrorsOfWritingOutputsKeepVisibleValues(t *testing.T) {
	g := NewWithT(t)
	w := outputsWorld(t)
	w.mustReconcile()
	stack := w.stack()
	stack.Status.Outputs = map[string]apiextensionsv1.JSON{"word": {Raw: []byte(`"field"`)}, "token": {Raw: []byte(`"[secret]"`)}}
	g.Expect(w.Status().Update(t.Context(), stack)).To(Succeed())
	inner := w.Client
	w.Client = interceptor.NewClient(inner.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, ok := o.(*corev1.Secret); ok {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "out", errors.New("the field hunter2 is not allowed"))
			}
			return c.Create(ctx, o, opts...)
		},
	})
	w.endReading(map[string]string{"word": `"field"`, "token": `"hunter2"`})
	g.Expect(w.stack().Status.OutputsSecret.Failure.Message).To(ContainSubstring("the field *** is not allowed"))
}

// A policy that refuses an update quotes the old values as well.
func TestErrorsOfWritingOutputsContainNoOldValues(t *testing.T) {
	g := NewWithT(t)
	w := written(t)
	stack := w.stack()
	inner := w.Client.(client.WithWatch)
	w.Client = interceptor.NewClient(inner, interceptor.Funcs{
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "out", errors.New("old hunter2 new hunter3"))
		},
	})
	plain := run.PlainOutputs{Values: map[string]json.RawMessage{"token": json.RawMessage(`"hunter3"`)}}
	told, err := w.writeOutputs(t.Context(), stack, plain, nil, w.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(told.Failure.Message).To(ContainSubstring("old *** new ***"))
}

func TestCredentialsForGitAreHidden(t *testing.T) {
	g := NewWithT(t)
	g.Expect(credentialsIn(map[string][]byte{"username": []byte("git"), "password": []byte("old")}, map[string][]byte{"password": []byte("new")})).
		To(ConsistOf("old", "new"))
	g.Expect(credentialsIn(map[string][]byte{"username": []byte("token"), "password": nil})).To(ContainElement("token"))
	for name, data := range map[string]map[string][]byte{"made": nil, "changed": {"password": []byte("canary-old")}} {
		w := newWorld(t)
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "default", UID: "1"}}
		if data != nil {
			_, err := w.keepGitSecret(t.Context(), stack, data, true)
			g.Expect(err).NotTo(HaveOccurred(), name)
		}
		no := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "app", errors.New("canary-old canary-new"))
		w.Client = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return no },
			Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
				return no
			},
		})
		_, err := w.keepGitSecret(t.Context(), stack, map[string][]byte{"username": []byte("git"), "password": []byte("canary-new")}, true)
		g.Expect(err).To(MatchError(Not(ContainSubstring("canary-new"))), name)
		if data != nil {
			g.Expect(err).To(MatchError(ContainSubstring("*** ***")), name)
		}
	}
}
