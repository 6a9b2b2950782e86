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

// ConfigType is a type of config that Pulumi checks values against: those which a
// Pulumi.yaml can declare.
type ConfigType struct {
	// Name is string, integer, boolean, object or array.
	Name string
	// Items of an array.
	Items *ConfigType
}

// ParseConfigType reads the type of a declaration, in JSON, and is nil where Pulumi has
// no such type in a Pulumi.yaml, and so no rule for it: there they are in small letters.
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

// String names the type as Pulumi does.
func (t *ConfigType) String() string {
	if t.Items != nil {
		return "array<" + t.Items.String() + ">"
	}
	return t.Name
}

// IsJSON tells whether the values of the type are no texts but in JSON.
func (t *ConfigType) IsJSON() bool { return t.Name == "object" || t.Name == "array" }

// TakesConfig tells whether a config value in JSON is of the type. Pulumi has a text of
// all that is no object and no array, and Pulumi YAML reads these in a text as well.
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
		if t.Name != "integer" { // where 1e3 is one
			value = strings.TrimSpace(string(raw))
		}
	}
	return t.takes(value)
}

// TakesSecret does so for a secret value, which is a text, and of an object or an array
// its JSON.
func (t *ConfigType) TakesSecret(text string) bool {
	if !t.IsJSON() {
		return t.takes(text)
	}
	var value any
	return json.Unmarshal([]byte(text), &value) == nil && t.takes(value)
}

// takes is the rule of Pulumi for what is in a config value.
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
