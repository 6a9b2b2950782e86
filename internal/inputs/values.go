// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Values reads references that are not inputs of a run, such as git credentials, with the
// rules and errors of Resolve. Each Secret is read only once.
type Values struct{ resolver resolver }

// NewValues returns Values for a Stack in the namespace.
func NewValues(reader client.Reader, namespace string, opts Options) *Values {
	return &Values{resolver{reader: reader, namespace: namespace, opts: opts, secrets: map[types.NamespacedName]*corev1.Secret{}}}
}

// Value resolves the reference in the field.
func (v *Values) Value(ctx context.Context, field string, ref v1.ResourceRef) (string, error) {
	// Handled as config, for which a value only has to be UTF-8 text.
	found, err := v.resolver.value(ctx, reference{field: field, config: true, ref: ref})
	return found.text, err
}

// Data returns the data of the Secret that the field names. The namespace defaults to
// that of the Stack.
func (v *Values) Data(ctx context.Context, field, namespace, name string) (map[string][]byte, error) {
	secret, err := v.resolver.secret(ctx, field, types.NamespacedName{Namespace: cmp.Or(namespace, v.resolver.namespace), Name: name})
	if err != nil {
		return nil, err
	}
	return secret.Data, nil
}
