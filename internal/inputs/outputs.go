// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const outputsField = "spec.writeOutputsToSecret"

// validateOutputs checks where the outputs are to be written. A Stack that reads what
// it writes would run for ever.
func validateOutputs(stack *v1.Stack) error {
	to := stack.Spec.WriteOutputsToSecret
	if to == nil {
		return nil
	}
	if slices.Contains(SecretRefs(stack), types.NamespacedName{Namespace: stack.Namespace, Name: to.Name}) {
		return &InvalidError{outputsField + ".name", fmt.Sprintf("the Stack takes values from Secret %s itself: write its outputs to another one", to.Name)}
	}
	for i, key := range to.Keys {
		if len(validation.IsConfigMapKey(key)) > 0 {
			return &InvalidError{fmt.Sprintf("%s.keys[%d]", outputsField, i),
				fmt.Sprintf("%q cannot be a key of a Secret, which has letters, digits, '-', '_' and '.': rename the output", key)}
		}
	}
	return nil
}
