// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const plainField = "spec.config"

// configKeys matches the valid forms of a config key. <namespace>:config:<key> is an old
// one.
var configKeys = regexp.MustCompile(`^[^:]+(:(config:)?[^:]+)?$`)

// validateConfig checks the config keys and values in the spec.
func validateConfig(stack *v1.Stack) error {
	spec := stack.Spec
	for _, keys := range []struct {
		field string
		names []string
	}{
		{plainField, names(spec.Config)}, {configField, names(spec.ConfigRef)},
		{secretsField, names(spec.SecretsRef)}, {inlineField, names(spec.Secrets)},
	} {
		for _, name := range keys.names {
			switch {
			case name == "":
				return &InvalidError{keys.field, "has an empty key: give the config value a name, or remove it"}
			case !configKeys.MatchString(name):
				return &InvalidError{keys.field + "." + name, "is not a config key: use <key> for a value of the project, or <namespace>:<key>"}
			}
		}
	}
	for _, key := range names(spec.Config) {
		raw := spec.Config[key].Raw
		switch {
		case isNull(bytes.TrimSpace(raw)):
			return &InvalidError{plainField + "." + key, nullProblem}
		case looksEncrypted(raw):
			return &InvalidError{plainField + "." + key, encryptedProblem}
		}
	}
	return nil
}

// names returns the keys sorted, so that of several faults the same one is always shown.
func names[V any](values map[string]V) []string { return slices.Sorted(maps.Keys(values)) }

const nullProblem = "is null, which is not a config value: give it a value, or remove the entry"

// emptyProblem describes what a null is decoded to. The CRD no longer admits it.
const emptyProblem = "is null or empty: give it a value, or remove the entry"

const encryptedProblem = `has an object whose only key is "secure", which Pulumi reads as an encrypted value: rename the key, or set the value in spec.secretsRef`

// looksEncrypted reports whether a JSON value contains, at any depth, Pulumi's form of an
// encrypted value. Invalid JSON is refused elsewhere.
func looksEncrypted(raw []byte) bool {
	var value any
	return json.Unmarshal(raw, &value) == nil && hasEncrypted(value)
}

func hasEncrypted(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		if _, text := value["secure"].(string); text && len(value) == 1 {
			return true
		}
		for _, member := range value {
			if hasEncrypted(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, hasEncrypted)
	}
	return false
}
