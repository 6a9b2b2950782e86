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

// Values reads what a Stack refers to outside of the inputs of its runs, such as
// credentials for git. The rules and the errors are those of Resolve. Each Secret is
// read once.
type Values struct{ resolver resolver }

// NewValues reads for a Stack in the namespace.
func NewValues(reader client.Reader, namespace string, opts Options) *Values {
	return &Values{resolver{reader: reader, namespace: namespace, opts: opts, secrets: map[types.NamespacedName]*corev1.Secret{}}}
}

// Value is what the reference in the field stands for.
func (v *Values) Value(ctx context.Context, field string, ref v1.ResourceRef) (string, error) {
	// A text in UTF-8 is all that is asked of it, as of a config value.
	found, err := v.resolver.value(ctx, reference{field: field, config: true, ref: ref})
	return found.text, err
}

// Data is the data of the Secret that the field names, in the namespace of the Stack
// where none is given.
func (v *Values) Data(ctx context.Context, field, namespace, name string) (map[string][]byte, error) {
	secret, err := v.resolver.secret(ctx, field, types.NamespacedName{Namespace: cmp.Or(namespace, v.resolver.namespace), Name: name})
	if err != nil {
		return nil, err
	}
	return secret.Data, nil
}
