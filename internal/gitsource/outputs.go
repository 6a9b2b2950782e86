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
	problem := "the Stack takes the credentials for spec.projectRepo from Secret %s: write its outputs to another one"
	if to.Name == SecretName(stack.Name) {
		problem = "the credentials for spec.projectRepo are kept in Secret %s: write the outputs to another one"
	}
	return &inputs.InvalidError{Field: "spec.writeOutputsToSecret.name", Problem: fmt.Sprintf(problem, to.Name)}
}
