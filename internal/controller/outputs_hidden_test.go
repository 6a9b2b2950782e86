// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

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
	written, err := w.publisher().Outputs(t.Context(), stack, plain, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(written.Refused).To(ContainSubstring("old *** new ***"))
}
