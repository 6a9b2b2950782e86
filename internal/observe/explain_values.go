// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// explainValues lists the values that a run would get, with secrets masked.
func explainValues(stack *v1.Stack, given *Observation) []ExplainedValue {
	if given.Inputs == nil {
		return nil
	}
	return slices.Concat(explainEnv(stack, given.Inputs), explainConfig(stack, given.Inputs), explainDefaults(stack, given.Program, given.Inputs))
}

// hideIn hides a whole text if it contains a secret.
func hideIn(text string, given *inputs.Inputs) string {
	for _, secret := range given.Masks {
		quoted := strings.Trim(strconv.Quote(secret), `"`)
		if strings.Contains(text, secret) || strings.Contains(text, quoted) {
			return mask.SecretText
		}
	}
	return text
}

func explainEnv(stack *v1.Stack, given *inputs.Inputs) []ExplainedValue {
	var values []ExplainedValue
	if stack.Spec.Backend != "" {
		values = append(values, ExplainedValue{"env", grammar.BackendVariable, hideIn(grammar.ShownBackend(stack.Spec.Backend), given), "spec.backend"})
	}
	for _, name := range slices.Sorted(maps.Keys(given.Env)) {
		if name == grammar.BackendVariable && stack.Spec.Backend != "" {
			continue // spec.backend wins
		}
		from, value := given.EnvFields[name], hideIn(given.Env[name], given)
		if isSecretEnv(stack, from, name) {
			value = mask.SecretText
		}
		values = append(values, ExplainedValue{"env", name, value, from})
	}
	return values
}

func explainConfig(stack *v1.Stack, given *inputs.Inputs) []ExplainedValue {
	var values []ExplainedValue
	from := configFields(stack)
	for _, key := range slices.Sorted(maps.Keys(given.Config)) {
		values = append(values, ExplainedValue{"config", key, hideIn(string(given.Config[key]), given), from[key]})
	}
	for _, key := range slices.Sorted(maps.Keys(given.Secrets)) {
		values = append(values, ExplainedValue{"config", key, mask.SecretText, from[key]})
	}
	return values
}

// explainDefaults lists the config that the Stack leaves to the Program.
func explainDefaults(stack *v1.Stack, program Program, given *inputs.Inputs) []ExplainedValue {
	set := configKeys(program.Project.Name, slices.Collect(maps.Keys(configFields(stack))))
	var values []ExplainedValue
	for _, declared := range program.Declared {
		key, err := grammar.ParseConfigKey(program.Project.Name, declared.Key)
		if err != nil || set[key] || declared.Default == nil {
			continue
		}
		value := hideIn(string(declared.Default), given)
		if declared.Secret {
			value = mask.SecretText
		}
		values = append(values, ExplainedValue{"config", declared.Key, value, "the Program's default"})
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

// unshownValues names the other places from which a run gets values: they are not in
// Kubernetes, or made for the run, or the Program is not known.
func unshownValues(stack *v1.Stack, given *Observation, jobs bool) []string {
	var unshown []string
	hasJob := jobs && inputs.HasJob(stack.Spec)
	if given.Account != "" && (given.Inputs == nil || given.Inputs.Env[grammar.KubeconfigVariable] == "") {
		text := fmt.Sprintf("the kubeconfig in $HOME/.kube/config, with the rights of ServiceAccount %s/%s", stack.Namespace, given.Account)
		if hasJob {
			text += ", unless spec.workspaceTemplate sets " + grammar.KubeconfigVariable
		}
		unshown = append(unshown, text)
	}
	for _, line := range given.Identity.Lines() {
		unshown = append(unshown, fmt.Sprintf("the identity of ServiceAccount %s/%s: %s", stack.Namespace, given.Account, line))
	}
	if hasJob {
		unshown = append(unshown, "the variables of spec.workspaceTemplate and of the image of its pod")
	}
	if ref := stack.Spec.ProgramRef; ref != nil && given.Program.Project.Name == "" {
		unshown = append(unshown, fmt.Sprintf("the defaults of the config that Program %s/%s declares", stack.Namespace, ref.Name))
	} else if name, err := grammar.ParseStackName(stack.Spec.Stack); err == nil && ref == nil {
		unshown = append(unshown, fmt.Sprintf("config that is only in Pulumi.%s.yaml or Pulumi.yaml of the source", name.Stack))
	}
	if len(stack.Spec.Environment) > 0 {
		unshown = append(unshown, "the values of the environments "+strings.Join(stack.Spec.Environment, ", "))
	}
	return unshown
}

// resolvePartly resolves the values of a Stack of which some cannot be resolved. It
// returns what these are, too.
func (o *Observer) resolvePartly(ctx context.Context, stack *v1.Stack, program Program) (resolved *inputs.Inputs, missing []string) {
	stack = stack.DeepCopy()
	for {
		given, err := inputs.Resolve(ctx, unnamedObjects{o.APIReader}, stack, o.inputOptions())
		if err == nil {
			err = hideConfig(stack, program, given)
		}
		if err == nil {
			return given, missing
		}
		if !leaveOut(&stack.Spec, inputs.FieldOf(err)) {
			return nil, missing
		}
		var denied *deniedToReaderError
		if !errors.As(err, &denied) { // that was shown already
			missing = append(missing, err.Error())
		}
	}
}

// hideConfig hides the config that a Program declares as secret, or all of it if the
// Program is not known.
func hideConfig(stack *v1.Stack, program Program, given *inputs.Inputs) error {
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

// leaveOut drops the entry of the spec that is at fault. It returns false if it has found
// nothing to drop.
func leaveOut(spec *v1.StackSpec, field string) bool {
	field, name, _ := strings.Cut(strings.TrimPrefix(field, "spec."), ".")
	switch field {
	case "envRefs":
		return drop(spec.EnvRefs, name)
	case "secretsRef":
		return drop(spec.SecretsRef, name)
	case "configRef":
		return drop(spec.ConfigRef, name)
	case "config":
		return drop(spec.Config, name)
	case "secrets":
		return drop(spec.Secrets, name)
	case "accessTokenSecret":
		dropped := spec.AccessTokenSecret != ""
		spec.AccessTokenSecret = ""
		return dropped
	}
	return unname(spec.Envs, "envs[%d]", field) || unname(spec.EnvSecrets, "envSecrets[%d]", field)
}

func drop[V any](from map[string]V, name string) bool {
	_, found := from[name]
	delete(from, name)
	return found
}

// unname empties the entry of a list that the field names. The others keep their numbers.
func unname(list []string, format, field string) bool {
	i := 0
	if n, _ := fmt.Sscanf(field, format, &i); n == 0 || i < 0 || i >= len(list) || list[i] == "" {
		return false
	}
	list[i] = ""
	return true
}

// unnamedObjects reads an object without a name as an empty one.
type unnamedObjects struct{ client.Reader }

// Get implements client.Reader.
func (u unnamedObjects) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if key.Name == "" {
		return nil
	}
	return u.Reader.Get(ctx, key, object, options...)
}
