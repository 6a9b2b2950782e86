// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
)

// History adds a run to the record of a Stack, in one write. It is the same if it is written again, as after a crash
// before the status is written.
func (p Publisher) History(ctx context.Context, stack *v1.Stack, record history.Record) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	kept, exists, err := p.readHistory(ctx, stack)
	if err != nil {
		return err
	}
	before := kept.DeepCopy()
	data, err := history.Put(before.BinaryData, stack.Status.History, record, stack.GetHistoryLimit())
	if err != nil {
		return err
	}
	kept.Data, kept.BinaryData = nil, data
	if err := p.ownHistory(stack, kept); err != nil {
		return err
	}
	switch {
	case !exists:
		if err := p.Client.Create(ctx, kept, p.Owner); err != nil {
			return fmt.Errorf("failed to create ConfigMap %s: %w", client.ObjectKeyFromObject(kept), err)
		}
		return nil
	case maps.EqualFunc(before.BinaryData, data, bytes.Equal) && isOwnedAlike(before, kept):
		return nil
	}
	return p.updateHistory(ctx, kept)
}

// SettleHistory has the record of a deleted Stack stay or go, as its spec says by now. The deletion waits only for
// what a person wants to keep.
func (p Publisher) SettleHistory(ctx context.Context, stack *v1.Stack) error {
	err := p.settleHistory(ctx, stack)
	if err != nil && !stack.RetainsHistory() {
		ctrl.LoggerFrom(ctx).Error(err, "failed to hand the history over for deletion with its Stack")
		return nil
	}
	if err != nil && !isForeign(err) {
		return fmt.Errorf("failed to retain the history: %w", err)
	}
	return nil
}

// settleHistory has the record of a Stack outlive it or not.
func (p Publisher) settleHistory(ctx context.Context, stack *v1.Stack) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	kept, exists, err := p.readHistory(ctx, stack)
	if err != nil || !exists {
		return err
	}
	before := kept.DeepCopy()
	if err := p.ownHistory(stack, kept); err != nil || isOwnedAlike(before, kept) {
		return err
	}
	return p.updateHistory(ctx, kept)
}

// readHistory reads the record of a Stack, or returns a new one.
func (p Publisher) readHistory(ctx context.Context, stack *v1.Stack) (kept *corev1.ConfigMap, exists bool, err error) {
	key := client.ObjectKey{Namespace: stack.Namespace, Name: history.ConfigMap(stack.Name)}
	kept = &corev1.ConfigMap{}
	err = p.Reader.Get(ctx, key, kept)
	switch {
	case apierrors.IsNotFound(err):
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("failed to read ConfigMap %s: %w", key, err)
	case !metav1.IsControlledBy(kept, stack) && !history.IsRetained(kept, stack.Name):
		return nil, false, &foreignConfigMapError{key.Namespace, key.Name}
	}
	return kept, true, nil
}

// ownHistory has the Stack own the ConfigMap, unless it is to outlive it.
func (p Publisher) ownHistory(stack *v1.Stack, kept *corev1.ConfigMap) error {
	if stack.RetainsHistory() {
		kept.OwnerReferences = slices.DeleteFunc(kept.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == stack.UID })
		history.Retain(kept, stack.Name)
		return nil
	}
	history.Release(kept)
	if err := controllerutil.SetControllerReference(stack, kept, p.Client.Scheme()); err != nil {
		return fmt.Errorf("failed to own ConfigMap %s: %w", client.ObjectKeyFromObject(kept), err)
	}
	return nil
}

func isOwnedAlike(a, b *corev1.ConfigMap) bool {
	isSame := func(a, b metav1.OwnerReference) bool { return a.UID == b.UID }
	return slices.EqualFunc(a.OwnerReferences, b.OwnerReferences, isSame) && maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations)
}

// updateHistory writes with the resource version that was read.
func (p Publisher) updateHistory(ctx context.Context, kept *corev1.ConfigMap) error {
	if err := p.Client.Update(ctx, kept, p.Owner); err != nil {
		return fmt.Errorf("failed to write ConfigMap %s: %w", client.ObjectKeyFromObject(kept), err)
	}
	return nil
}
