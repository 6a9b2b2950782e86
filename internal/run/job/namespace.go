// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NamespaceEnds reports whether a namespace is being deleted, so that no Job can be
// created in it. It creates a Secret with a dry run: a run begins with one, and the
// controller needs no permission to read namespaces.
func (r *Runner) NamespaceEnds(ctx context.Context, namespace string) (bool, error) {
	asked := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: Name("")}}
	err := r.options.Client.Create(ctx, asked, client.DryRunAll, fieldOwner)
	switch {
	case isOfAnEnd(err):
		return true, nil
	case err == nil, isFinal(err):
		return false, nil // the run reports what else is in the way
	}
	return false, fmt.Errorf("failed to find out whether namespace %s is being deleted: %w", namespace, err)
}

// isOfAnEnd reports whether an error says that the namespace is being deleted, which
// cannot be undone.
func isOfAnEnd(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// refusalText says, for a person, why the objects of a run cannot be created.
func refusalText(namespace string, err error) string {
	if isOfAnEnd(err) {
		return fmt.Sprintf("namespace %s is being deleted, so no Job can be created in it", namespace)
	}
	return err.Error()
}
