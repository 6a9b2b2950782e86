// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plan/details"
)

// The right to delete ConfigMaps is for those of plans that were replaced.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=delete

// planLabel is on each ConfigMap with a part of a plan. Its value is the UID of the Stack.
const planLabel = "pulumi.com/plan-of"

// Plan writes a plan, and returns the name of its first ConfigMap and the digest of all its
// data. Their names contain that digest, and none is changed later: the plan that the status
// refers to stays complete until the status refers to another.
func (p Publisher) Plan(ctx context.Context, stack *v1.Stack, of plan.Plan) (name, digest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	parts, err := details.Encode(of)
	if err != nil {
		return "", "", err
	}
	digest = details.Digest(parts)
	for n, part := range parts {
		if err := p.createPart(ctx, stack, planPart(stack, digest, n), len(parts), part); err != nil {
			return "", "", err
		}
	}
	return planPart(stack, digest, 0), digest, nil
}

// planPart returns the name of a ConfigMap of a plan. The last character tells those of a
// plan apart.
func planPart(stack *v1.Stack, digest string, n int) string {
	return ownedName(stack, fmt.Sprintf("-plan-%s-%d", strings.TrimPrefix(digest, "sha256:")[:10], n+1))
}

// createPart creates a ConfigMap unless it exists.
func (p Publisher) createPart(ctx context.Context, stack *v1.Stack, name string, parts int, data []byte) error {
	before, err := p.ownedMeta(ctx, stack, name)
	if err != nil || before != nil {
		return err
	}
	created := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: stack.Namespace, Name: name,
			Labels:      map[string]string{planLabel: string(stack.UID)},
			Annotations: map[string]string{details.PartsAnnotation: strconv.Itoa(parts)},
		},
		BinaryData: map[string][]byte{details.Key: data},
		Immutable:  ptr.To(true),
	}
	if err := controllerutil.SetControllerReference(stack, created, p.Client.Scheme()); err != nil {
		return fmt.Errorf("failed to own ConfigMap %s/%s: %w", stack.Namespace, name, err)
	}
	if err := p.Client.Create(ctx, created, p.Owner); err != nil {
		return fmt.Errorf("failed to create ConfigMap %s/%s: %w", stack.Namespace, name, err)
	}
	return nil
}

// DropPlans deletes the ConfigMaps of all plans but the one that the status refers to.
func (p Publisher) DropPlans(ctx context.Context, stack *v1.Stack) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all metav1.PartialObjectMetadataList
	all.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	err := p.Reader.List(ctx, &all, client.InNamespace(stack.Namespace), client.MatchingLabels{planLabel: string(stack.UID)})
	if err != nil {
		return fmt.Errorf("failed to list the ConfigMaps of plans of Stack %s/%s: %w", stack.Namespace, stack.Name, err)
	}
	for n := range all.Items {
		part := &all.Items[n]
		if !metav1.IsControlledBy(part, stack) || isPartOf(part.Name, stack.Status.Plan) {
			continue
		}
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: part.Name}}
		err := p.Client.Delete(ctx, configMap, client.Preconditions{UID: ptr.To(part.UID)})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("failed to delete ConfigMap %s/%s: %w", stack.Namespace, part.Name, err)
		}
	}
	return nil
}

// isPartOf reports whether a ConfigMap has a part of the plan in the status: all their names
// are those of the first but for the last character.
func isPartOf(name string, status *v1.PlanStatus) bool {
	return status != nil && status.ConfigMap != "" && len(name) == len(status.ConfigMap) &&
		strings.HasPrefix(name, status.ConfigMap[:len(status.ConfigMap)-1])
}
