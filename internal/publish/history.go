// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
)

// History adds what a run has changed to that of the runs in the history, and drops that of other
// runs. It is the same if it is written again, as after a crash before the status is written.
func (p Publisher) History(ctx context.Context, stack *v1.Stack, run string, change history.Change) error {
	data, err := history.Encode(change) // which may take a while
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key := client.ObjectKey{Namespace: stack.Namespace, Name: history.ConfigMap(stack.Name)}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	err = p.Reader.Get(ctx, key, kept)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("failed to read ConfigMap %s: %w", key, err)
	}
	exists := err == nil
	if exists && !metav1.IsControlledBy(kept, stack) {
		return &foreignConfigMapError{key.Namespace, key.Name}
	}
	before := kept.BinaryData
	kept.Data, kept.BinaryData = nil, history.Add(before, history.Runs(stack.Status.History), run, data)
	if exists && maps.EqualFunc(before, kept.BinaryData, bytes.Equal) {
		return nil
	}
	if exists { // with its resource version
		if err := p.Client.Update(ctx, kept, p.Owner); err != nil {
			return fmt.Errorf("failed to write ConfigMap %s: %w", key, err)
		}
		return nil
	}
	if err := controllerutil.SetControllerReference(stack, kept, p.Client.Scheme()); err != nil {
		return fmt.Errorf("failed to own ConfigMap %s: %w", key, err)
	}
	if err := p.Client.Create(ctx, kept, p.Owner); err != nil {
		return fmt.Errorf("failed to create ConfigMap %s: %w", key, err)
	}
	return nil
}
