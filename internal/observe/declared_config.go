// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"maps"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	programs "github.com/flux-pulumi/pulumi-controller/internal/program"
)

// declaredKeys returns the config values that the Program declares, by the keys that
// Pulumi reads them from.
func (p Program) declaredKeys() map[grammar.ConfigKey]programs.Declared {
	keys := map[grammar.ConfigKey]programs.Declared{}
	for _, declared := range p.Declared {
		if key, err := grammar.ParseConfigKey(p.Project.Name, declared.Key); err == nil {
			keys[key] = declared
		}
	}
	return keys
}

// checkDeclared refuses values that do not have the type that the Program declares, as
// Pulumi does for those declared in a Pulumi.yaml.
func checkDeclared(stack *v1.Stack, program Program, resolved *inputs.Inputs) error {
	declared := program.declaredKeys()
	fields := configFields(stack)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		key, err := grammar.ParseConfigKey(program.Project.Name, name)
		wanted := declared[key].Type
		if err != nil || wanted == nil || takes(wanted, name, resolved) {
			continue
		}
		problem := fmt.Sprintf("must be of the type %s, as declared by the Program", wanted)
		ref, isRef := stack.Spec.ConfigRef[name]
		if isRef && !ref.JSON && wanted.IsJSON() {
			problem += ": set json to true, because the value is a string without it"
		}
		if _, isSecretRef := stack.Spec.SecretsRef[name]; isRef || isSecretRef {
			return &inputs.UnusableError{Field: fields[name], Problem: problem}
		}
		return &inputs.InvalidError{Field: fields[name], Problem: problem}
	}
	return nil
}

func takes(wanted *grammar.ConfigType, name string, resolved *inputs.Inputs) bool {
	if secret, ok := resolved.Secrets[name]; ok {
		return wanted.TakesSecret(secret)
	}
	return wanted.TakesConfig(resolved.Config[name])
}

// checkRequired refuses a Stack that does not set a value for which the Program has no
// default: the error of Pulumi YAML would name neither the Stack nor a file that the user
// knows. With Pulumi Cloud, an environment may set it.
func checkRequired(stack *v1.Stack, program Program, resolved *inputs.Inputs) error {
	if grammar.HasEnvironments(Backend(stack, resolved.Env)) {
		return nil
	}
	given := configKeys(program.Project.Name, slices.Concat(slices.Collect(maps.Keys(configFields(stack))), slices.Collect(maps.Keys(program.Config))))
	for _, declared := range program.Declared {
		key, err := grammar.ParseConfigKey(program.Project.Name, declared.Key)
		if err != nil || declared.Default != nil || given[key] {
			continue
		}
		field := "spec.config."
		if declared.Secret {
			field = "spec.secretsRef."
		}
		return &inputs.InvalidError{Field: field + declared.Key, Problem: "is required: the Program declares it without a default"}
	}
	return nil
}

// hideDeclared turns plain config into secret config where the Program declares it as
// secret: Pulumi YAML would otherwise keep the value in the clear.
func hideDeclared(program Program, resolved *inputs.Inputs) error {
	declared := program.declaredKeys()
	for _, name := range slices.Sorted(maps.Keys(resolved.Config)) {
		key, err := grammar.ParseConfigKey(program.Project.Name, name)
		if err != nil || !declared[key].Secret {
			continue
		}
		if err := resolved.HideConfig(name); err != nil {
			return err
		}
	}
	return nil
}
