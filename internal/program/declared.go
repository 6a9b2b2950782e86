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
	// Key that Stacks give it under.
	Key string
	// Secret is one that is to be kept encrypted.
	Secret bool
	// Required is one that has no default.
	Required bool
	// Type that Pulumi checks values against. It does so for config alone, and has no
	// rule for some types: nil then.
	Type *grammar.ConfigType
}

// declared are the config values that a program declares. What is no declaration is
// left out: package check tells of it.
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
