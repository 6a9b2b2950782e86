// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"maps"
	"strings"
)

// mainProgram converts the sections of a program to those of a Main.yaml.
func mainProgram(program map[string]any) map[string]any {
	sections := maps.Clone(program)
	config := map[string]any{}
	for _, section := range []string{"configuration", "config"} {
		declarations, ok := sections[section].(map[string]any)
		if !ok {
			continue // invalid: leave it, so that Pulumi reports its place
		}
		delete(sections, section)
		for name, declaration := range declarations {
			if IsOfProvider(name, declaration) {
				continue
			}
			config[name] = mainConfig(declaration)
		}
	}
	if _, broken := sections["config"]; !broken && len(config) > 0 {
		sections["config"] = config
	}
	for _, section := range []string{"outputs", "packages", "variables"} {
		if objects, ok := sections[section].(map[string]any); ok && len(objects) == 0 {
			delete(sections, section)
		}
	}
	return sections
}

// IsOfProvider returns whether a config declaration only sets a value for a provider,
// such as aws:region. Pulumi reads those from the project, not from a Main.yaml.
func IsOfProvider(name string, declaration any) bool {
	fields, _ := declaration.(map[string]any)
	_, typed := fields["type"]
	_, defaulted := fields["default"]
	_, valued := fields["value"]
	return strings.Contains(name, ":") && valued && !typed && !defaulted
}

// mainConfig converts a declaration to what Pulumi YAML accepts in a Main.yaml.
// Project settings may also have a value, which becomes a default, and an array of
// items, which becomes a list.
func mainConfig(declaration any) any {
	given, ok := declaration.(map[string]any)
	if !ok {
		return declaration
	}
	fields := maps.Clone(given)
	delete(fields, "description") // Pulumi YAML warns about it
	if value, ok := fields["value"]; ok {
		if _, both := fields["default"]; !both {
			fields["default"] = value
			delete(fields, "value")
		}
	}
	items, _ := fields["items"].(map[string]any)
	if item, ok := items["type"].(string); ok && strings.EqualFold(text(fields["type"]), "array") {
		fields["type"] = "List<" + item + ">"
		delete(fields, "items")
	}
	return fields
}

// text returns a value that is a string, or else an empty string.
func text(value any) string {
	s, _ := value.(string)
	return s
}

// ProjectConfig returns the config values that a program sets for providers, by
// name, such as aws:region. They apply to all Stacks of the program that do not
// override them.
func ProjectConfig(program map[string]any) map[string]any {
	values := map[string]any{}
	for _, section := range []string{"configuration", "config"} {
		declarations, _ := program[section].(map[string]any)
		for name, declaration := range declarations {
			if IsOfProvider(name, declaration) {
				values[name] = declaration.(map[string]any)["value"]
			}
		}
	}
	return values
}
