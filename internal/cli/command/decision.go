// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
)

// attempts bounds the writes of a decision while the controller writes the Stack as well.
const attempts = 10

// decide sets the annotations of a decision on the plan, and returns the user whom they name.
// They are for the Stack as it was seen: nothing is written once check objects to it.
func (s *session) decide(ctx context.Context, api client.Client, stack *v1.Stack, check func(now *v1.Stack) error, annotations func(user string) map[string]any) (string, error) {
	user, err := whoAmI(ctx, api)
	if err != nil {
		return "", err
	}
	for range attempts {
		object, err := stackTarget(stack).get(ctx, api)
		if err != nil {
			return "", err
		}
		if err := isStill(object, stack, check); err != nil {
			return "", err
		}
		err = mergePatch(ctx, api, object, map[string]any{"metadata": map[string]any{
			"resourceVersion": object.GetResourceVersion(), "annotations": annotations(user),
		}})
		if err == nil || !apierrors.IsConflict(err) {
			return user, err
		}
	}
	return "", fmt.Errorf("nothing was decided: Stack %s changes all the time: try again", stack.Name)
}

// isStill returns an error if the Stack is another one now, or if check objects to it.
func isStill(object *unstructured.Unstructured, before *v1.Stack, check func(now *v1.Stack) error) error {
	now := &v1.Stack{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, now); err != nil {
		return fmt.Errorf("reading Stack %s: %w", before.Name, err)
	}
	if now.UID != before.UID {
		return fmt.Errorf("nothing was decided: another Stack of that name was created in the meantime")
	}
	if err := check(now); err != nil {
		return fmt.Errorf("nothing was decided: %w", err)
	}
	return nil
}

// stillProposes checks whether the Stack still proposes the plan.
func stillProposes(of *v1.PlanStatus) func(now *v1.Stack) error {
	return func(now *v1.Stack) error {
		switch p := words.Proposal(now); {
		case p == nil:
			return words.ErrNothingProposed(now)
		case p.Digest != of.Digest || p.Operation != of.Operation:
			return fmt.Errorf("the Stack now proposes another plan, %s: see it with flux pulumi diff stack %s -n %s", p.Digest, now.Name, now.Namespace)
		}
		return nil
	}
}

// whoAmI returns the user of the kubeconfig, as the API server knows it.
func whoAmI(ctx context.Context, api client.Client) (string, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := api.Create(ctx, review); err != nil {
		return "", fmt.Errorf("asking the API server for the user of the kubeconfig: %w", err)
	}
	return review.Status.UserInfo.Username, nil
}
