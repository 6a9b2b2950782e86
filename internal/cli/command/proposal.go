// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plan/details"
)

// isProposed reports whether the Stack proposes the plan with the digest.
func isProposed(stack *v1.Stack, digest string) bool {
	p := words.Proposal(stack)
	return p != nil && p.Digest == digest
}

// readPlan reads the plan that the Stack proposes from its ConfigMaps. Whoever may write these
// cannot show another plan than the one that is approved: its digest is computed here once more.
func readPlan(ctx context.Context, api client.Reader, stack *v1.Stack, of *v1.PlanStatus) (plan.Plan, error) {
	again := reconcileOf(stack)
	if of.Drift != "" {
		again += " --check-drift" // after which it is made again
	}
	if of.ConfigMap == "" {
		return plan.Plan{}, fmt.Errorf("the details of plan %s could not be written, and the log of the controller says why: run %s", of.Digest, again)
	}
	parts, err := details.Collect(of.ConfigMap, partOf(ctx, api, stack))
	switch {
	case errors.Is(err, errGone):
		return plan.Plan{}, fmt.Errorf("%w: run %s", err, again)
	case err != nil:
		return plan.Plan{}, err
	case details.Digest(parts) != of.ContentDigest:
		return plan.Plan{}, fmt.Errorf("the ConfigMap %s/%s %w: delete it, and run %s", stack.Namespace, of.ConfigMap, errOther, again)
	}
	read, err := details.Decode(parts)
	if err != nil {
		return plan.Plan{}, err
	}
	if read.Digest() != of.Digest {
		return plan.Plan{}, fmt.Errorf("the plan in ConfigMap %s/%s is not plan %s: is this plugin older than the controller?", stack.Namespace, of.ConfigMap, of.Digest)
	}
	return read, nil
}

// partOf reads a ConfigMap with a part of a plan of the Stack.
func partOf(ctx context.Context, api client.Reader, stack *v1.Stack) func(name string) (details.Part, error) {
	return func(name string) (details.Part, error) {
		part := &corev1.ConfigMap{}
		err := api.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: name}, part)
		switch {
		case apierrors.IsNotFound(err):
			return details.Part{}, fmt.Errorf("the ConfigMap %s/%s %w", stack.Namespace, name, errGone)
		case err != nil:
			return details.Part{}, fmt.Errorf("reading ConfigMap %s/%s: %w", stack.Namespace, name, err)
		}
		return details.Part{Annotations: part.Annotations, Data: part.BinaryData[details.Key]}, nil
	}
}

// showProposal shows the plan, and says what a person should know of it.
func (s *session) showProposal(stack *v1.Stack, of *v1.PlanStatus, read plan.Plan) error {
	if err := s.showPlan(read); err != nil {
		return err
	}
	for _, note := range words.Notes(of) {
		s.Warningf("%s", note)
	}
	return nil
}
