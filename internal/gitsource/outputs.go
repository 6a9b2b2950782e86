// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// CheckOutputs refuses to write outputs to a Secret with the credentials. The Stack
// writes the Secret of the GitRepository too, so the two writes would alternate forever.
// Package inputs has the same rule for the Secrets with the inputs of a run.
func CheckOutputs(stack *v1.Stack) error {
	to := stack.Spec.WriteOutputsToSecret
	if to == nil || !slices.Contains(SecretRefs(stack), types.NamespacedName{Namespace: stack.Namespace, Name: to.Name}) {
		return nil
	}
	problem := "the Stack reads the credentials for spec.projectRepo from Secret %s: write its outputs to another Secret"
	if to.Name == SecretName(stack.Name) {
		problem = "the controller keeps the credentials for spec.projectRepo in Secret %s: write the outputs to another Secret"
	}
	return &inputs.InvalidError{Field: "spec.writeOutputsToSecret.name", Problem: fmt.Sprintf(problem, to.Name)}
}
