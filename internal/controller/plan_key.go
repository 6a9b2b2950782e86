// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// The right to create Secrets is also for the key of plans.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create

const (
	// planKeyName is the name of the Secret, and planKeyData the name of the entry with the key.
	planKeyName = "pulumi-controller-plan-key"
	planKeyData = "key"
	// planKeySize is the size of the key in bytes.
	planKeySize = 32
)

var errNoPlanKey = errors.New("no key of plans")

// checkPlanKey gets the key of the run, or returns why it cannot until a person acts.
func (r *StackReconciler) checkPlanKey(ctx context.Context, stack *v1.Stack, seen *observe.Observation, which *launch) *decide.Problem {
	err := r.preparePlan(ctx, stack, seen, which)
	switch {
	case errors.Is(err, errNoPlanKey):
		return &decide.Problem{Reason: v1.InputsFailedReason, Message: err.Error()}
	case apierrors.IsNotFound(err): // a controller outside of the cluster may be in a namespace that is none
		return &decide.Problem{Reason: v1.InputsFailedReason, Message: err.Error() +
			": create this namespace, or set the environment variable RUNTIME_NAMESPACE of the controller to another one"}
	case apierror.IsRefused(err):
		return &decide.Problem{Reason: v1.InputsFailedReason, Message: err.Error() + ": let the controller get and create this Secret"}
	}
	return nil // start tries again, and returns any other error, which passes by itself
}

// preparePlan gets what the run needs for a plan and does not have yet: what a preview is compared with,
// and the key.
func (r *StackReconciler) preparePlan(ctx context.Context, stack *v1.Stack, seen *observe.Observation, which *launch) (err error) {
	namespace := stack.Namespace
	if which.makesPlan(stack) {
		if which.comparison == nil {
			comparison, err := r.observer().Compare(ctx, stack, seen)
			if err != nil {
				return err
			}
			which.comparison = &comparison
		}
		namespace = which.comparison.Namespace
	}
	if which.needsPlanKey() && which.planKey == "" {
		which.planKey, err = r.planKey(ctx, namespace, stack.Spec.Stack)
	}
	return err
}

// planKey returns the key of the digests in the plans of a stack in a namespace. It is derived from a random
// one in a Secret of the controller, which all its replicas and shards share and which is read
// each time: after a restart, the same change is the same plan. Without that Secret there is
// another key, and with it another digest of each plan: what waits is proposed again, and what
// was approved is not applied.
func (r *StackReconciler) planKey(ctx context.Context, namespace, stack string) (string, error) {
	name := client.ObjectKey{Namespace: cmp.Or(r.Namespace, namespace), Name: planKeyName}
	secret, err := r.planKeySecret(ctx, name)
	if err != nil {
		return "", err
	}
	key := secret.Data[planKeyData]
	if len(key) < planKeySize {
		return "", fmt.Errorf("%w: the Secret %s has none of %d bytes in %q: delete it, and the controller creates another", errNoPlanKey, name, planKeySize, planKeyData)
	}
	return inputs.PlanKey(key, namespace, stack), nil
}

// planKeySecret reads the Secret, or creates it.
func (r *StackReconciler) planKeySecret(ctx context.Context, name client.ObjectKey) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.APIReader.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) {
		if err = r.createPlanKey(ctx, name); err == nil {
			err = r.APIReader.Get(ctx, name, secret)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("failed to get the key of plans in Secret %s: %w", name, err)
	}
	return secret, nil
}

// createPlanKey creates the Secret, unless another shard is faster.
func (r *StackReconciler) createPlanKey(ctx context.Context, name client.ObjectKey) error {
	key := make([]byte, planKeySize)
	_, _ = rand.Read(key) // never fails
	err := r.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Immutable:  ptr.To(true),
		Data:       map[string][]byte{planKeyData: key},
	}, FieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return apierror.HideValues(err, []string{string(key), base64.StdEncoding.EncodeToString(key)})
}
