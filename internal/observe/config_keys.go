// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// checkConfigKeys refuses two names for one config value, and a name that a resource of
// the Program has. For a source, the run checks both: the project may be named only in
// its Pulumi.yaml, and only the run sees its program.
func checkConfigKeys(stack *v1.Stack, seen *Observation) error {
	fields := configFields(stack)
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	if err != nil {
		return &inputs.InvalidError{Field: "spec.stack", Problem: err.Error()}
	}
	project := cmp.Or(seen.Program.Project.Name, name.Project)
	one, other, found := grammar.SameConfigKey(project, slices.Collect(maps.Keys(fields)))
	if found {
		return &inputs.InvalidError{Field: fields[one],
			Problem: fmt.Sprintf("is the same config value as %s in the project %s: remove one of the two", fields[other], project)}
	}
	return checkShadowed(fields, project, seen.Program.ResourceNames)
}

// configFields returns the fields of the Stack that set config values, by config name.
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

// configKeys returns the keys that Pulumi reads the named config values from. It skips
// invalid names.
func configKeys(project string, names []string) map[grammar.ConfigKey]bool {
	keys := map[grammar.ConfigKey]bool{}
	for _, name := range names {
		if key, err := grammar.ParseConfigKey(project, name); err == nil {
			keys[key] = true
		}
	}
	return keys
}

// checkShadowed refuses config named like a resource: Pulumi YAML would use the config
// value in place of the resource. For a source, only the run knows the resources.
func checkShadowed(fields map[string]string, project string, resources map[string]bool) error {
	for _, text := range slices.Sorted(maps.Keys(fields)) {
		key, err := grammar.ParseConfigKey(project, text)
		if err != nil {
			continue // refused elsewhere
		}
		if resources[key.InProgram(project)] {
			return &inputs.InvalidError{Field: fields[text], Problem: grammar.ShadowedProblem}
		}
	}
	return nil
}
