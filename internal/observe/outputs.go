// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// observeOutputs checks whether the Secret with the outputs is up to date. It reads from
// the API server, as for the Secrets of the inputs: they are not cached.
func (o *Observer) observeOutputs(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	if seen.Deleting || seen.Problem != nil || !stackstatus.WritesOutputs(stack) {
		return nil
	}
	basis := o.outputsBasis(ctx, stack)
	if _, ok := o.Results.Get(stack.UID, aboutOutputs, basis); ok {
		return nil // up to date
	}
	secret, err := o.readSecret(ctx, stack.Namespace, stack.Spec.WriteOutputsToSecret.Name)
	if err != nil {
		return err
	}
	if seen.Outputs, err = stackstatus.ObserveOutputs(stack, secret); err == nil && seen.Outputs == (decide.Outputs{}) {
		o.Results.Keep(stack.UID, aboutOutputs, basis, Result{})
	}
	return err
}

// readSecret returns nil if there is no such Secret.
func (o *Observer) readSecret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := o.APIReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read Secret %s/%s: %w", namespace, name, err)
	}
	return secret, nil
}
