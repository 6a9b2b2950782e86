// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
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
	scheme := runtime.NewScheme()
	NewWithT(t).Expect(v1.AddToScheme(scheme)).To(Succeed())
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
			p := Publisher{Client: saying{fake.NewClientBuilder().WithScheme(scheme).Build(), refuse}}
			_, err := p.putSecret(t.Context(), stack, before, data, []string{"canary-token"})
			g.Expect(err).To(MatchError(ContainSubstring(`value "***"`)), name)
			g.Expect(apierrors.ReasonForError(err)).To(Equal(apierrors.ReasonForError(refuse(errors.New("x")))), name)
		}
	}
}
