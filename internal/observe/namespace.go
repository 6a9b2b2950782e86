// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NewNamespaceObject returns a namespace to read or to watch. Only the metadata of namespaces is read.
func NewNamespaceObject() *metav1.PartialObjectMetadata {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return namespace
}

// NewNamespaceList returns a list of such namespaces.
func NewNamespaceList() *metav1.PartialObjectMetadataList {
	namespaces := &metav1.PartialObjectMetadataList{}
	namespaces.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	return namespaces
}

// namespaceLabels returns the labels of a namespace. A namespace that the cache does not have yet is
// read from the API server: without its labels, a Stack could go unguarded.
func (o *Observer) namespaceLabels(ctx context.Context, name string) (map[string]string, error) {
	if o.WatchNamespaces != nil {
		if err := o.WatchNamespaces(ctx); err != nil {
			return nil, err
		}
	}
	namespace := NewNamespaceObject()
	err := o.Cached.Get(ctx, client.ObjectKey{Name: name}, namespace)
	if apierrors.IsNotFound(err) {
		err = o.APIReader.Get(ctx, client.ObjectKey{Name: name}, namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the labels of namespace %s for PolicySets: %w", name, err)
	}
	return namespace.Labels, nil
}
