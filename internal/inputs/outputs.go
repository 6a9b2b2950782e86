// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"fmt"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const outputsField = "spec.writeOutputsToSecret"

// validateOutputs checks where outputs are written to. A Stack that reads the Secret it
// writes would run forever.
func validateOutputs(stack *v1.Stack) error {
	to := stack.Spec.WriteOutputsToSecret
	if to == nil {
		return nil
	}
	if slices.Contains(SecretRefs(stack), types.NamespacedName{Namespace: stack.Namespace, Name: to.Name}) {
		return &InvalidError{outputsField + ".name", fmt.Sprintf("the Stack itself reads values from Secret %s: write its outputs to another Secret", to.Name)}
	}
	for i, key := range to.Keys {
		if len(validation.IsConfigMapKey(key)) > 0 {
			return &InvalidError{fmt.Sprintf("%s.keys[%d]", outputsField, i),
				fmt.Sprintf("%q is not a valid key of a Secret (letters, digits, '-', '_' and '.'): rename the output", key)}
		}
	}
	return validateOutputsMetadata(to)
}

// validateOutputsMetadata checks the labels and annotations of the Secret, which the API
// server would otherwise refuse only after the update.
func validateOutputsMetadata(to *v1.OutputsSecret) error {
	wrong := append(metav1validation.ValidateLabels(to.Labels, field.NewPath(outputsField, "labels")),
		apivalidation.ValidateAnnotations(to.Annotations, field.NewPath(outputsField, "annotations"))...)
	if len(wrong) == 0 {
		return nil
	}
	// Sorted, so that map order does not change the message.
	slices.SortFunc(wrong, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return &InvalidError{wrong[0].Field, wrong[0].ErrorBody()}
}
