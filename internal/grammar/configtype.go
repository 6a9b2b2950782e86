// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ConfigType is a config type that Pulumi checks values against: one that a Pulumi.yaml
// can declare.
type ConfigType struct {
	// Name is string, integer, boolean, object or array.
	Name string
	// Items of an array.
	Items *ConfigType
}

// ParseConfigType parses the type in a declaration. It returns nil for types that a
// Pulumi.yaml does not have, such as names in upper case, as Pulumi has no rule for
// these.
func ParseConfigType(declaration map[string]any) *ConfigType {
	name, _ := declaration["type"].(string)
	if slices.Contains([]string{"string", "integer", "boolean", "object"}, name) {
		return &ConfigType{Name: name}
	}
	items, ok := declaration["items"].(map[string]any)
	if name != "array" || !ok {
		return nil
	}
	if inner := ParseConfigType(items); inner != nil {
		return &ConfigType{Name: name, Items: inner}
	}
	return nil
}

// String returns Pulumi's name for the type.
func (t *ConfigType) String() string {
	if t.Items != nil {
		return "array<" + t.Items.String() + ">"
	}
	return t.Name
}

// IsJSON reports whether values of the type are written as JSON rather than plain text.
func (t *ConfigType) IsJSON() bool { return t.Name == "object" || t.Name == "array" }

// TakesConfig reports whether a config value in JSON is of the type. Pulumi turns all
// values except objects and arrays into text, and Pulumi YAML also reads objects and
// arrays from text.
func (t *ConfigType) TakesConfig(raw []byte) bool {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return false
	}
	switch given := value.(type) {
	case string:
		return t.TakesSecret(given)
	case bool:
		value = strconv.FormatBool(given)
	case float64:
		if t.Name != "integer" { // to which 1e3 is an integer
			value = strings.TrimSpace(string(raw))
		}
	}
	return t.takes(value)
}

// TakesSecret is TakesConfig for a secret value, which is text: for objects and arrays,
// their JSON.
func (t *ConfigType) TakesSecret(text string) bool {
	if !t.IsJSON() {
		return t.takes(text)
	}
	var value any
	return json.Unmarshal([]byte(text), &value) == nil && t.takes(value)
}

// takes implements Pulumi's rule for what a config value holds.
func (t *ConfigType) takes(value any) bool {
	switch given := value.(type) {
	case string:
		_, notInteger := strconv.Atoi(given)
		return t.Name == "string" || t.Name == "integer" && notInteger == nil ||
			t.Name == "boolean" && (given == "true" || given == "false")
	case float64:
		return t.Name == "integer" && given == math.Trunc(given)
	case bool:
		return t.Name == "boolean"
	case map[string]any:
		return t.Name == "object"
	case []any:
		return t.Items != nil && !slices.ContainsFunc(given, func(item any) bool { return !t.Items.takes(item) })
	}
	return false
}
