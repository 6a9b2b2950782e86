// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/owned"
)

// The right to write ConfigMaps is for those that a Stack owns: its inventory, the result of
// a preview, the log of its last run, and what its runs have changed.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=create;update

// digestAnnotation has the digest of the data of an owned ConfigMap, so that its metadata
// is enough to tell whether to write it.
const digestAnnotation = "pulumi.com/digest"

// foreignConfigMapError is a ConfigMap of that name that the Stack does not own.
type foreignConfigMapError struct{ namespace, name string }

func (e *foreignConfigMapError) Error() string {
	return fmt.Sprintf("ConfigMap %s/%s does not belong to this Stack: delete or rename it", e.namespace, e.name)
}

// isForeign reports whether a ConfigMap was left alone because the Stack does not own it.
func isForeign(err error) bool {
	var foreign *foreignConfigMapError
	return errors.As(err, &foreign)
}

// ownedMeta reads the metadata of a ConfigMap of the Stack; nil if there is none.
func (p Publisher) ownedMeta(ctx context.Context, stack *v1.Stack, name string) (*metav1.ObjectMeta, error) {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err := p.Reader.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}, found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read ConfigMap %s/%s: %w", stack.Namespace, name, err)
	}
	if !metav1.IsControlledBy(found, stack) {
		return nil, &foreignConfigMapError{stack.Namespace, name}
	}
	return &found.ObjectMeta, nil
}

// putOwned writes the data of a ConfigMap of the Stack if they differ. Neither write can
// hit a ConfigMap that someone else has created in the meantime.
func (p Publisher) putOwned(ctx context.Context, stack *v1.Stack, before *metav1.ObjectMeta, name, key string, data []byte) error {
	digest := inventory.Digest(data)
	if before != nil && before.Annotations[digestAnnotation] == digest {
		return nil
	}
	written := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: name, Annotations: map[string]string{digestAnnotation: digest}},
		BinaryData: map[string][]byte{key: data},
	}
	if err := controllerutil.SetControllerReference(stack, written, p.Client.Scheme()); err != nil {
		return fmt.Errorf("failed to own ConfigMap %s/%s: %w", stack.Namespace, name, err)
	}
	if before == nil {
		if err := p.Client.Create(ctx, written, p.Owner); err != nil {
			return fmt.Errorf("failed to create ConfigMap %s/%s: %w", stack.Namespace, name, err)
		}
		return nil
	}
	written.UID, written.ResourceVersion = before.UID, before.ResourceVersion
	if err := p.Client.Update(ctx, written, p.Owner); err != nil {
		return fmt.Errorf("failed to write ConfigMap %s/%s: %w", stack.Namespace, name, err)
	}
	return nil
}

// putConfigMap writes a ConfigMap that nothing waits for, and returns its name and the digest
// of its data.
func (p Publisher) putConfigMap(ctx context.Context, stack *v1.Stack, suffix, key string, data []byte) (name, digest string, err error) {
	name = owned.Name(stack.Name, suffix)
	before, err := p.ownedMeta(ctx, stack, name)
	if err != nil {
		return "", "", err
	}
	if err := p.putOwned(ctx, stack, before, name, key, data); err != nil {
		return "", "", err
	}
	return name, inventory.Digest(data), nil
}

// deleteConfigMap deletes a ConfigMap, unless it is gone or another one by now.
func (p Publisher) deleteConfigMap(ctx context.Context, key client.ObjectKey, uid types.UID) error {
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	err := p.Client.Delete(ctx, configMap, client.Preconditions{UID: &uid})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("failed to delete ConfigMap %s: %w", key, err)
	}
	return nil
}
