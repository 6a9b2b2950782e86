// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
)

// The right to write ConfigMaps is for those that a Stack owns: the list of its
// resources, and what a preview has found.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=create;update

// digestAnnotation of a ConfigMap that a Stack owns has the digest of its data, so
// that it takes no more than the metadata to tell whether there is anything to write.
const digestAnnotation = "pulumi.com/digest"

// ownedName is the name of a ConfigMap of the Stack. A name that would be too long
// is cut, and ends in a digest of all of it.
func ownedName(stack *v1.Stack, suffix string) string {
	name := stack.Name + suffix
	if len(name) <= validation.DNS1123SubdomainMaxLength {
		return name
	}
	sum := sha256.Sum256([]byte(stack.Name))
	end := "-" + hex.EncodeToString(sum[:8]) + suffix
	kept := name[:validation.DNS1123SubdomainMaxLength-len(end)]
	if trimmed := strings.TrimRight(kept, "-."); strings.Contains(kept[len(trimmed):], ".") {
		kept = trimmed // nothing begins with a dash after a dot
	}
	return kept + end
}

// foreignConfigMapError is a ConfigMap of the name that is not the Stack's.
type foreignConfigMapError struct{ namespace, name string }

func (e *foreignConfigMapError) Error() string {
	return fmt.Sprintf("ConfigMap %s/%s does not belong to this Stack: delete or rename it", e.namespace, e.name)
}

// ownedMeta reads the metadata of a ConfigMap of the Stack: nil where there is none.
func (r *StackReconciler) ownedMeta(ctx context.Context, stack *v1.Stack, name string) (*metav1.ObjectMeta, error) {
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}, found)
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

// putOwned writes the data of a ConfigMap of the Stack, where they are not there
// already. Neither write can hit one that somebody else has made meanwhile.
func (r *StackReconciler) putOwned(ctx context.Context, stack *v1.Stack, before *metav1.ObjectMeta, name, key string, data []byte) error {
	digest := inventory.Digest(data)
	if before != nil && before.Annotations[digestAnnotation] == digest {
		return nil
	}
	written := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: name, Annotations: map[string]string{digestAnnotation: digest}},
		BinaryData: map[string][]byte{key: data},
	}
	if err := controllerutil.SetControllerReference(stack, written, r.Client.Scheme()); err != nil {
		return fmt.Errorf("failed to own ConfigMap %s/%s: %w", stack.Namespace, name, err)
	}
	if before == nil {
		if err := r.Create(ctx, written, fieldOwner); err != nil {
			return fmt.Errorf("failed to create ConfigMap %s/%s: %w", stack.Namespace, name, err)
		}
		return nil
	}
	written.UID, written.ResourceVersion = before.UID, before.ResourceVersion
	if err := r.Update(ctx, written, fieldOwner); err != nil {
		return fmt.Errorf("failed to write ConfigMap %s/%s: %w", stack.Namespace, name, err)
	}
	return nil
}
