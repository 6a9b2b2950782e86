// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"maps"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// Declared is a config value that a Program declares.
type Declared struct {
	// Key under which Stacks set it.
	Key string
	// Secret says that the value is to be kept encrypted.
	Secret bool
	// Required says that it has no default.
	Required bool
	// Type that Pulumi checks values against. Nil for types without a rule, and for the
	// section configuration, which Pulumi does not check.
	Type *grammar.ConfigType
}

// declared returns the config values that a program declares. It skips malformed
// declarations, which package check reports.
func declared(object map[string]any) []Declared {
	var found []Declared
	for _, section := range []string{"configuration", "config"} {
		declarations, _ := object[section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(declarations)) {
			fields, ok := declarations[name].(map[string]any)
			if !ok {
				continue
			}
			one := Declared{Key: name}
			if key, _ := fields["name"].(string); key != "" {
				one.Key = key
			}
			one.Secret, _ = fields["secret"].(bool)
			_, hasDefault := fields["default"]
			_, hasValue := fields["value"]
			one.Required = !hasDefault && !hasValue
			if section == "config" {
				one.Type = grammar.ParseConfigType(fields)
			}
			found = append(found, one)
		}
	}
	return found
}
