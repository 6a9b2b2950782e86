// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
)

var (
	// errGone says that the ConfigMap does not exist.
	errGone = errors.New("is gone")
	// errOther says that the data does not match the digest in the status.
	errOther = errors.New("was changed by something other than the controller")
)

// ownedData reads the controller's data from a ConfigMap of the Stack. Callers handle
// errGone and errOther.
func ownedData(ctx context.Context, api client.Reader, stack *v1.Stack, name, key, digest string) ([]byte, error) {
	kept := &corev1.ConfigMap{}
	err := api.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}, kept)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("the ConfigMap %s/%s %w", stack.Namespace, name, errGone)
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", stack.Namespace, name, err)
	case inventory.Digest(kept.BinaryData[key]) != digest:
		return nil, fmt.Errorf("the ConfigMap %s/%s %w", stack.Namespace, name, errOther)
	}
	return kept.BinaryData[key], nil
}

// reconcileOf returns the command that runs the Stack.
func reconcileOf(stack *v1.Stack) string {
	return fmt.Sprintf("flux pulumi reconcile stack %s -n %s", stack.Name, stack.Namespace)
}
