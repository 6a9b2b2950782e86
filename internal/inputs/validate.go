// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

const (
	envField         = "spec.envRefs"
	configField      = "spec.configRef"
	secretsField     = "spec.secretsRef"
	inlineField      = "spec.secrets"
	accessTokenField = "spec.accessTokenSecret"
)

// maxStack bounds the name of a stack in bytes.
const maxStack = 300

// Validate checks the rules between the fields of a spec. The CRD checks them too, except
// those of the Pulumi operator's templates. Validate covers objects stored before it did,
// and API servers that were told to skip validation. The error is an InvalidError for the
// first invalid field.
func Validate(stack *v1.Stack) error {
	spec := stack.Spec
	switch {
	case spec.Stack == "":
		return &InvalidError{"spec.stack", "is required: set the name of the stack in the backend"}
	case len(spec.Stack) > maxStack:
		return &InvalidError{"spec.stack", fmt.Sprintf("is longer than %d bytes: give the stack a shorter name", maxStack)}
	case HasWorkspace(spec):
		// Checked before the source, as a Stack with a template may have none.
		return &InvalidError{"spec.workspaceTemplate", "configures the pod of a run, but this controller runs programs itself: run it with --runner=job, or remove the template and use " +
			"spec.envRefs for environment variables, spec.serviceAccountName for permissions in the cluster, and fluxSource, programRef or projectRepo for the program"}
	}
	for _, check := range []func(v1.StackSpec) error{
		validateSource, validateUpdateTemplate, validateChoices, validateLists, validateDurations, validateEnv, validateDrift, validatePreviewOf,
	} {
		if err := check(spec); err != nil {
			return err
		}
	}
	for _, r := range append(references(stack), gitReferences(spec)...) {
		if err := validateRef(r.field, r.ref); err != nil {
			return err
		}
	}
	for _, check := range []func(*v1.Stack) error{validateConfig, validateConfigRefs, validateOutputs, validateSecrets} {
		if err := check(stack); err != nil {
			return err
		}
	}
	return nil
}

// validateEnv checks the names of variables, and values that conflict with other fields.
func validateEnv(spec v1.StackSpec) error {
	for _, name := range slices.Sorted(maps.Keys(spec.EnvRefs)) {
		if len(validation.IsCIdentifier(name)) > 0 {
			return &InvalidError{envField, fmt.Sprintf("%q is not a valid name of an environment variable (letters, digits and underscores, "+
				"not starting with a digit): rename it", name)}
		}
	}
	if _, own := spec.EnvRefs[grammar.KubeconfigVariable]; own && spec.ServiceAccountName != "" {
		return &InvalidError{envField + "." + grammar.KubeconfigVariable,
			"spec.serviceAccountName already provides a kubeconfig: remove one of the two"}
	}
	switch spec.EnvRefs[grammar.BackendVariable].Type {
	case v1.ResourceRefEnv, v1.ResourceRefFS:
		// What is shown about a secret backend is keyed by its Secret, and there is none
		// here.
		return &InvalidError{envField + "." + grammar.BackendVariable,
			"the backend cannot be read from the controller: set spec.backend, or use type Secret"}
	}
	return nil
}

// validateSecrets checks that no key of the secret config has a second value.
func validateSecrets(stack *v1.Stack) error {
	spec := stack.Spec
	for _, key := range slices.Sorted(maps.Keys(spec.Secrets)) {
		if _, twice := spec.SecretsRef[key]; twice {
			return &InvalidError{inlineField + "." + key, "spec.secretsRef has the same key: remove one of the two"}
		}
	}
	secrets := make([]string, 0, len(spec.Secrets)+len(spec.SecretsRef))
	for key := range spec.SecretsRef {
		secrets = append(secrets, secretsField+"."+key)
	}
	for key := range spec.Secrets {
		secrets = append(secrets, inlineField+"."+key)
	}
	for _, field := range slices.Sorted(slices.Values(secrets)) {
		key := strings.TrimPrefix(strings.TrimPrefix(field, secretsField+"."), inlineField+".")
		if _, twice := spec.Config[key]; twice {
			return &InvalidError{field, "spec.config has the same key: remove one of the two"}
		}
		if _, twice := spec.ConfigRef[key]; twice {
			return &InvalidError{field, "spec.configRef has the same key: remove one of the two"}
		}
	}
	return nil
}

// validateRef checks that a reference has the fields that its type requires.
func validateRef(field string, ref v1.ResourceRef) error {
	if ref == (v1.ResourceRef{}) {
		return &InvalidError{field, emptyProblem}
	}
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
	case v1.ResourceRefEnv:
		if ref.Env == nil || ref.Env.Name == "" {
			return &InvalidError{field, "env is required when type is Env: add env.name"}
		}
	case v1.ResourceRefFS:
		if ref.FileSystem == nil || ref.FileSystem.Path == "" {
			return &InvalidError{field, "filesystem is required when type is FS: add filesystem.path"}
		}
		if !path.IsAbs(ref.FileSystem.Path) {
			return &InvalidError{field, "filesystem.path must be absolute, because the working directory of the controller may change"}
		}
	default:
		return &InvalidError{field, fmt.Sprintf("type %q is not supported: use Secret, Literal, Env or FS", ref.Type)}
	}
	return validateMembers(field, ref)
}

// validateMembers refuses fields that do not belong to the type of the reference, as it
// would be unclear which value is meant.
func validateMembers(field string, ref v1.ResourceRef) error {
	for _, member := range []struct {
		name string
		of   v1.ResourceRefType
		set  bool
	}{
		{"secret", v1.ResourceRefSecret, ref.Secret != nil}, {"literal", v1.ResourceRefLiteral, ref.Literal != nil},
		{"env", v1.ResourceRefEnv, ref.Env != nil}, {"filesystem", v1.ResourceRefFS, ref.FileSystem != nil},
	} {
		if member.set && member.of != ref.Type {
			return &InvalidError{field, fmt.Sprintf("%s belongs to type %s, but the type is %s: remove it, or change the type", member.name, member.of, ref.Type)}
		}
	}
	return nil
}
