// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"maps"
	"slices"
	"strings"
)

// FaultsIn returns all faults of the Program for a Stack of a project.
func (c Checked) FaultsIn(project string) Faults {
	faults := c.Invalid.With(c.SandboxViolations)
	for _, namespace := range slices.Sorted(maps.Keys(c.OfProviders)) {
		if namespace != project {
			faults = faults.With(c.OfProviders[namespace])
		}
	}
	return faults
}

// ConfigIn returns the config values for providers that the Program sets for a Stack of a
// project, by name.
func (c Checked) ConfigIn(project string) map[string]any {
	values := maps.Clone(c.ProjectConfig)
	for name, value := range c.TypedConfig {
		if namespace, _, _ := strings.Cut(name, ":"); namespace != project {
			values[name] = value
		}
	}
	return values
}

// typedConfig returns the values of declarations with a type, such as that of aws:region.
func typedConfig(object map[string]any) map[string]any {
	values := map[string]any{}
	for _, section := range []string{"configuration", "config"} {
		declarations, _ := object[section].(map[string]any)
		for name, declaration := range declarations {
			fields, _ := declaration.(map[string]any)
			_, typed := fields["type"]
			_, renamed := fields["name"]
			if value, ok := fields["value"]; ok && typed && !renamed && strings.Contains(name, ":") {
				values[name] = value
			}
		}
	}
	return values
}
