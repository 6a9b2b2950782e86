// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
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
