// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	envField     = "spec.envRefs"
	configField  = "spec.configRef"
	secretsField = "spec.secretsRef"
)

// Validate checks the rules between the fields of a spec. The CRD has them too:
// this is for objects that were stored before it did, and for API servers that
// were told not to ask. The error is an InvalidError, for the first field in
// order that is wrong.
func Validate(stack *v1.Stack) error {
	spec := stack.Spec
	switch {
	case spec.Stack == "":
		return &InvalidError{"spec.stack", "is required: the name of the stack in the backend"}
	case spec.FluxSource != nil && spec.ProgramRef != nil:
		return &InvalidError{"spec", "exactly one of fluxSource and programRef is required, and both are set: remove one"}
	case spec.FluxSource == nil && spec.ProgramRef == nil:
		return &InvalidError{"spec", "exactly one of fluxSource and programRef is required, and neither is set: add one"}
	}
	for _, name := range slices.Sorted(maps.Keys(spec.EnvRefs)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return &InvalidError{envField, fmt.Sprintf("%q cannot be the name of an environment variable", name)}
		}
	}
	if _, own := spec.EnvRefs[kubeconfigVariable]; own && spec.ServiceAccountName != "" {
		return &InvalidError{envField + "." + kubeconfigVariable,
			"spec.serviceAccountName gives the program a kubeconfig already: remove one of the two"}
	}
	for _, r := range references(stack) {
		if err := validateRef(r.field, r.ref); err != nil {
			return err
		}
	}
	return validateConfigRefs(stack)
}

// validateRef checks that a reference has what its type asks for.
func validateRef(field string, ref v1.ResourceRef) error {
	switch ref.Type {
	case v1.ResourceRefSecret:
		if ref.Secret == nil {
			return &InvalidError{field, "secret is required when type is Secret: add secret.name and secret.key"}
		}
		if ref.Secret.Name == "" || ref.Secret.Key == "" {
			return &InvalidError{field, "secret.name and secret.key are required"}
		}
	case v1.ResourceRefLiteral:
		if ref.Literal == nil {
			return &InvalidError{field, "literal is required when type is Literal: add literal.value"}
		}
	default:
		return &InvalidError{field, fmt.Sprintf("type %q is not supported: use Secret or Literal", ref.Type)}
	}
	return nil
}
