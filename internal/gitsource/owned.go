// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// NotOwnedError is an object that has the name of one that is kept for a projectRepo, and that
// the Stack does not own.
type NotOwnedError struct {
	Kind   string
	Object types.NamespacedName
	Stack  string
}

func (e *NotOwnedError) Error() string {
	if e.Kind == secretKind {
		return fmt.Sprintf("Secret %s already exists, and Stack %s, which keeps the credentials for spec.projectRepo under this name, does not own it. "+
			"Delete it; if it contains credentials, move them to a Secret with another name and refer to that in spec.gitAuth", e.Object, e.Stack)
	}
	return fmt.Sprintf("%s %s already exists, and Stack %s, which needs this name for spec.projectRepo, does not own it. "+
		"Delete or rename it, or use it in spec.fluxSource", e.Kind, e.Object, e.Stack)
}

const secretKind = "Secret"

// ReadOwned reads an object that the Stack may own. It returns false if there is none, and a
// NotOwnedError if the Stack does not own it.
func ReadOwned(ctx context.Context, reader client.Reader, stack *v1.Stack, key types.NamespacedName, object client.Object) (bool, error) {
	err := reader.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err) && !errors.Is(source.ReadError("", key, err), source.ErrNotServed):
		return false, nil
	case err != nil:
		return false, err
	case !metav1.IsControlledBy(object, stack):
		return false, &NotOwnedError{Kind: KindOf(object), Object: key, Stack: stack.Name}
	}
	return true, nil
}

// KindOf returns the kind of an object that is kept for a projectRepo.
func KindOf(object client.Object) string {
	if _, ok := object.(*corev1.Secret); ok {
		return secretKind
	}
	return "GitRepository"
}

// RefusedError is an object that the API server rejects.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

func (e *RefusedError) Unwrap() error { return e.Err }
