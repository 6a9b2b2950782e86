// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"encoding/json"
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
	// Default in JSON, nil if a Stack must set the value. It may be an expression.
	Default json.RawMessage
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
			one.Default = defaultOf(fields)
			if section == "config" {
				one.Type = grammar.ParseConfigType(fields)
			}
			found = append(found, one)
		}
	}
	return found
}

// defaultOf returns what a Stack that does not set the value gets, nil if there is nothing.
func defaultOf(fields map[string]any) json.RawMessage {
	for _, name := range []string{"value", "default"} {
		if value, ok := fields[name]; ok {
			text, err := json.Marshal(value)
			if err == nil {
				return text
			}
		}
	}
	return nil
}
