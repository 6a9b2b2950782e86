// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"maps"
	"strings"
)

// mainProgram returns the sections of a program as a Main.yaml has them.
func mainProgram(program map[string]any) map[string]any {
	sections := maps.Clone(program)
	config := map[string]any{}
	for _, section := range []string{"configuration", "config"} {
		declarations, ok := sections[section].(map[string]any)
		if !ok {
			continue // a fault, which Pulumi names where it is
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
	for _, section := range []string{"outputs", "packages", "resources", "variables"} {
		if objects, ok := sections[section].(map[string]any); ok && len(objects) == 0 {
			delete(sections, section)
		}
	}
	return sections
}

// IsOfProvider tells whether a declaration of the config of a program only gives a
// value to a provider, such as aws:region. Pulumi takes those from the project, and
// not from a Main.yaml.
func IsOfProvider(name string, declaration any) bool {
	fields, _ := declaration.(map[string]any)
	_, typed := fields["type"]
	_, defaulted := fields["default"]
	_, valued := fields["value"]
	return strings.Contains(name, ":") && valued && !typed && !defaulted
}

// mainConfig writes a declaration as Pulumi YAML takes it in a Main.yaml. In the
// settings of a project there is also a value, which is what a default is here,
// and an array of items for a list.
func mainConfig(declaration any) any {
	given, ok := declaration.(map[string]any)
	if !ok {
		return declaration
	}
	fields := maps.Clone(given)
	delete(fields, "description") // Pulumi YAML warns of it
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

// text is a value that is a text, or nothing.
func text(value any) string {
	s, _ := value.(string)
	return s
}

// ProjectConfig returns the config values that a program gives to providers, such
// as aws:region, by their names. They are what all Stacks of the program have that
// give no other.
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
