// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/owned"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plan/details"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// The right to delete ConfigMaps is for those of plans that were replaced.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=delete

// planLabel is on each ConfigMap with a part of a plan. Its value is the UID of the Stack.
const planLabel = "pulumi.com/plan-of"

// planAfterRun writes the plan of an ended run, for those who approve it, and returns where
// it is and what is different from the one before. The digest is in the status all the same if
// that fails.
func (p Publisher) planAfterRun(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) stackstatus.PlanDetails {
	if !stackstatus.KeepsPlan(stack, record, result) || result.Plan == nil {
		return stackstatus.PlanDetails{}
	}
	var written stackstatus.PlanDetails
	var err error
	if written.ConfigMap, written.ContentDigest, err = p.Plan(ctx, stack, *result.Plan); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to write the plan", "run", record.ID)
		return stackstatus.PlanDetails{}
	}
	if former := stack.Status.Plan; former != nil && former.State != v1.PlanApplied && former.Digest != result.Plan.Digest() {
		before, err := p.ReadPlan(ctx, stack)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "failed to read the former plan")
			return written
		}
		written.Difference = plan.Difference(before, *result.Plan)
	}
	return written
}

// DropPlans deletes the plans that the status no longer refers to.
func (p Publisher) DropPlans(ctx context.Context, stack *v1.Stack) {
	if err := p.deleteFormerPlans(ctx, stack); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to delete former plans") // the next proposal does
	}
}

// DropPlansSince deletes all plans if the status referred to one before, and refers to none now.
func (p Publisher) DropPlansSince(ctx context.Context, before *v1.PlanStatus, stack *v1.Stack) {
	if before != nil && stack.Status.Plan == nil {
		p.DropPlans(ctx, stack)
	}
}

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
	first := firstPart(stack, digest)
	for n, part := range parts {
		if err := p.createPart(ctx, stack, details.Name(first, n), len(parts), part); err != nil {
			return "", "", err
		}
	}
	return first, digest, nil
}

// firstPart returns the name of the first ConfigMap of a plan.
func firstPart(stack *v1.Stack, digest string) string {
	return owned.Name(stack.Name, "-plan-"+strings.TrimPrefix(digest, "sha256:")[:10]+"-1")
}

// ReadPlan reads the plan that the status refers to.
func (p Publisher) ReadPlan(ctx context.Context, stack *v1.Stack) (plan.Plan, error) {
	of := stack.Status.Plan
	if of == nil || of.ConfigMap == "" {
		return plan.Plan{}, errors.New("the status refers to no plan")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	parts, err := details.Collect(of.ConfigMap, func(name string) (details.Part, error) {
		part := &corev1.ConfigMap{}
		err := p.Reader.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}, part)
		return details.Part{Annotations: part.Annotations, Data: part.BinaryData[details.Key]}, err
	})
	if err != nil {
		return plan.Plan{}, fmt.Errorf("failed to read the plan in ConfigMap %s/%s: %w", stack.Namespace, of.ConfigMap, err)
	}
	if details.Digest(parts) != of.ContentDigest {
		return plan.Plan{}, fmt.Errorf("the plan in ConfigMap %s/%s was changed by something else", stack.Namespace, of.ConfigMap)
	}
	return details.Decode(parts)
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

// deleteFormerPlans deletes the ConfigMaps of all plans but the one that the status refers to.
func (p Publisher) deleteFormerPlans(ctx context.Context, stack *v1.Stack) error {
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
		if err := p.deleteConfigMap(ctx, client.ObjectKeyFromObject(part), part.UID); err != nil {
			return err
		}
	}
	return nil
}

// isPartOf reports whether a ConfigMap has a part of the plan in the status.
func isPartOf(name string, status *v1.PlanStatus) bool {
	if status == nil || status.ConfigMap == "" {
		return false
	}
	for n := range details.MaxParts {
		if name == details.Name(status.ConfigMap, n) {
			return true
		}
	}
	return false
}
