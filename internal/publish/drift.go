// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

const driftSuffix = "-drift"

// Drift writes what a check for drift has found, and returns the name of the ConfigMap and the
// digest of its data. As long as that is the same, nothing is written.
func (p Publisher) Drift(ctx context.Context, stack *v1.Stack, found plan.Plan) (name, digest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	data, err := inventory.EncodePlan(found)
	if err != nil {
		return "", "", err
	}
	return p.putConfigMap(ctx, stack, driftSuffix, inventory.PlanKey, data)
}

// DropDrift deletes what was written of drift that is gone.
func (p Publisher) DropDrift(ctx context.Context, stack *v1.Stack) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	name := ownedName(stack, driftSuffix)
	before, err := p.ownedMeta(ctx, stack, name)
	if err != nil || before == nil {
		return err
	}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: name}}
	err = p.Client.Delete(ctx, configMap, client.Preconditions{UID: ptr.To(before.UID)})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("failed to delete ConfigMap %s/%s: %w", stack.Namespace, name, err)
	}
	return nil
}
