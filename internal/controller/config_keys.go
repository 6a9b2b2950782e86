// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// checkConfigKeys refuses two names of one config value, and one that a resource of the
// Program has. A source may have its project in its Pulumi.yaml alone, and has its program
// to itself: the run finds those then.
func checkConfigKeys(stack *v1.Stack, seen *observed) error {
	fields := configFields(stack)
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	if err != nil {
		return &inputs.InvalidError{Field: "spec.stack", Problem: err.Error()}
	}
	project := cmp.Or(seen.program.Project.Name, name.Project)
	one, other, found := grammar.SameConfigKey(project, slices.Collect(maps.Keys(fields)))
	if found {
		return &inputs.InvalidError{Field: fields[one],
			Problem: fmt.Sprintf("is the same config value as %s, in the project %s: remove one of the two", fields[other], project)}
	}
	return checkShadowed(fields, project, seen.program.ResourceNames)
}

// configFields are the fields of the Stack that give config values, by their names.
func configFields(stack *v1.Stack) map[string]string {
	fields := map[string]string{}
	for name := range stack.Spec.Config {
		fields[name] = "spec.config." + name
	}
	for name := range stack.Spec.ConfigRef {
		fields[name] = "spec.configRef." + name
	}
	for name := range stack.Spec.SecretsRef {
		fields[name] = "spec.secretsRef." + name
	}
	for name := range stack.Spec.Secrets {
		fields[name] = "spec.secrets." + name
	}
	return fields
}

// checkShadowed refuses config by the name of a resource, for which Pulumi YAML would take
// the value. Only the run knows what a source has.
func checkShadowed(fields map[string]string, project string, resources map[string]bool) error {
	for _, text := range slices.Sorted(maps.Keys(fields)) {
		key, err := grammar.ParseConfigKey(project, text)
		if err != nil {
			continue // which is for others to refuse
		}
		if resources[key.InProgram(project)] {
			return &inputs.InvalidError{Field: fields[text], Problem: grammar.ShadowedProblem}
		}
	}
	return nil
}
