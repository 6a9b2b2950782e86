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

// checkConfigKeys refuses two names of one config value. A source may have its project
// in its Pulumi.yaml alone: the run finds those then.
func checkConfigKeys(stack *v1.Stack, seen *observed) error {
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
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	if err != nil {
		return &inputs.InvalidError{Field: "spec.stack", Problem: err.Error()}
	}
	project := cmp.Or(seen.program.Project.Name, name.Project)
	one, other, found := grammar.SameConfigKey(project, slices.Collect(maps.Keys(fields)))
	if !found {
		return nil
	}
	return &inputs.InvalidError{Field: fields[one],
		Problem: fmt.Sprintf("is the same config value as %s, in the project %s: remove one of the two", fields[other], project)}
}
