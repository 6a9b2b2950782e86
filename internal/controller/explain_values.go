// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

const backendVariable = "PULUMI_BACKEND_URL"

// explainValues lists the values that a run would get, with secrets masked.
func explainValues(stack *v1.Stack, given *inputs.Inputs) []ExplainedValue {
	if given == nil {
		return nil
	}
	hide := func(text string) string {
		for _, secret := range given.Masks {
			quoted := strings.Trim(strconv.Quote(secret), `"`)
			if strings.Contains(text, secret) || strings.Contains(text, quoted) {
				return secretText
			}
		}
		return text
	}
	var values []ExplainedValue
	if stack.Spec.Backend != "" {
		values = append(values, ExplainedValue{"env", backendVariable, hide(grammar.PublicBackend(stack.Spec.Backend)), "spec.backend"})
	}
	for _, name := range slices.Sorted(maps.Keys(given.Env)) {
		if name == backendVariable && stack.Spec.Backend != "" {
			continue // spec.backend wins
		}
		from, value := given.EnvFields[name], hide(given.Env[name])
		if isSecretEnv(stack, from, name) {
			value = secretText
		}
		values = append(values, ExplainedValue{"env", name, value, from})
	}
	from := configFields(stack)
	for _, key := range slices.Sorted(maps.Keys(given.Config)) {
		values = append(values, ExplainedValue{"config", key, hide(string(given.Config[key])), from[key]})
	}
	for _, key := range slices.Sorted(maps.Keys(given.Secrets)) {
		values = append(values, ExplainedValue{"config", key, secretText, from[key]})
	}
	return values
}

// isSecretEnv reports whether to mask a variable regardless of its value. Those from a
// ConfigMap or in the spec are visible to whoever can read these.
func isSecretEnv(stack *v1.Stack, from, name string) bool {
	if ref, ok := stack.Spec.EnvRefs[name]; ok && isEnvRef(from) {
		return ref.Type != v1.ResourceRefLiteral
	}
	return !strings.HasPrefix(from, "spec.envs[") && !isEnvRef(from)
}

const secretText = "[secret]"

// unshownValues names the other places from which a run gets values: they are not in
// Kubernetes, or the Program shows them.
func unshownValues(stack *v1.Stack) []string {
	var unshown []string
	if ref := stack.Spec.ProgramRef; ref != nil {
		unshown = append(unshown, fmt.Sprintf("the defaults of the config that Program %s/%s declares", stack.Namespace, ref.Name))
	} else if name, err := grammar.ParseStackName(stack.Spec.Stack); err == nil {
		unshown = append(unshown, fmt.Sprintf("config that is only in Pulumi.%s.yaml or Pulumi.yaml of the source", name.Stack))
	}
	if len(stack.Spec.Environment) > 0 {
		unshown = append(unshown, "the values of the environments "+strings.Join(stack.Spec.Environment, ", "))
	}
	return unshown
}

// resolvePartly resolves the values of a Stack of which some are missing. It returns what
// is missing, too.
func (r *StackReconciler) resolvePartly(ctx context.Context, stack *v1.Stack, program program) (given *inputs.Inputs, missing []string) {
	stack = stack.DeepCopy()
	without := emptyObjects{r.APIReader, map[objectOfKind]bool{}}
	for {
		given, err := inputs.Resolve(ctx, without, stack, r.inputOptions())
		if err == nil && hideConfig(stack, program, given) == nil {
			return given, missing
		}
		var gone *inputs.MissingError
		if !errors.As(err, &gone) {
			return nil, missing
		}
		if without.names[objectOfKind{gone.Kind, gone.Object}] {
			gone.Key = "" // the object is missing, not only its key
		}
		if !leaveOut(&stack.Spec, gone, without) {
			return nil, missing
		}
		missing = append(missing, gone.Error())
	}
}

// hideConfig hides the config that a Program declares as secret, or all of it if the
// Program is not known.
func hideConfig(stack *v1.Stack, program program, given *inputs.Inputs) error {
	if stack.Spec.ProgramRef == nil || program.Project.Name != "" {
		return hideDeclared(program, given)
	}
	for _, name := range slices.Sorted(maps.Keys(given.Config)) {
		if err := given.HideConfig(name); err != nil {
			return err
		}
	}
	return nil
}

// leaveOut drops what asks for a missing object. It returns false if it has found
// nothing to drop.
func leaveOut(spec *v1.StackSpec, gone *inputs.MissingError, without emptyObjects) bool {
	field, name, _ := strings.Cut(strings.TrimPrefix(gone.Field, "spec."), ".")
	before := len(spec.EnvRefs) + len(spec.SecretsRef) + len(spec.ConfigRef) + len(spec.AccessTokenSecret) + len(without.names)
	switch field {
	case "envRefs":
		delete(spec.EnvRefs, name)
	case "secretsRef":
		delete(spec.SecretsRef, name)
	case "configRef":
		delete(spec.ConfigRef, name)
	case "accessTokenSecret":
		spec.AccessTokenSecret = ""
	default: // a list, whose entries keep their numbers
		without.names[objectOfKind{gone.Kind, gone.Object}] = true
	}
	return len(spec.EnvRefs)+len(spec.SecretsRef)+len(spec.ConfigRef)+len(spec.AccessTokenSecret)+len(without.names) != before
}

// emptyObjects reads some missing Secrets and ConfigMaps as empty ones.
type emptyObjects struct {
	client.Reader
	names map[objectOfKind]bool
}

type objectOfKind struct {
	kind string
	name client.ObjectKey
}

// Get implements client.Reader.
func (e emptyObjects) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	kind := "ConfigMap"
	if _, ok := object.(*corev1.Secret); ok {
		kind = "Secret"
	}
	err := e.Reader.Get(ctx, key, object, options...)
	if apierrors.IsNotFound(err) && e.names[objectOfKind{kind, key}] {
		return nil
	}
	return err
}
