// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// hideDeclared makes secret config of what the Program declares as secret and the Stack
// gives in plain: Pulumi YAML takes a value as it is given, and keeps a plain one in the
// clear whatever the program says.
func hideDeclared(program program, resolved *inputs.Inputs) error {
	secret := map[grammar.ConfigKey]bool{}
	for _, declared := range program.Declared {
		if key, err := grammar.ParseConfigKey(program.Project.Name, declared.Key); err == nil && declared.Secret {
			secret[key] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(resolved.Config)) {
		key, err := grammar.ParseConfigKey(program.Project.Name, name)
		if err != nil || !secret[key] {
			continue
		}
		if err := resolved.HideConfig(name); err != nil {
			return err
		}
	}
	return nil
}
