// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"maps"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const plainField = "spec.config"

// validateConfig checks the keys and the values of the config that the spec has.
func validateConfig(stack *v1.Stack) error {
	spec := stack.Spec
	for _, keys := range []struct {
		field string
		empty bool
	}{
		{plainField, has(spec.Config, "")}, {configField, has(spec.ConfigRef, "")},
		{secretsField, has(spec.SecretsRef, "")}, {inlineField, has(spec.Secrets, "")},
	} {
		if keys.empty {
			return &InvalidError{keys.field, "has an empty key: give the config value a name, or remove it"}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(spec.Config)) {
		if looksEncrypted(spec.Config[key].Raw) {
			return &InvalidError{plainField + "." + key, encryptedProblem}
		}
	}
	return nil
}

func has[V any](values map[string]V, key string) bool {
	_, ok := values[key]
	return ok
}

const encryptedProblem = `has an object whose only member is "secure", which Pulumi takes for an encrypted value: rename the member, or give the value in spec.secretsRef`

// looksEncrypted tells whether a JSON value has, at any depth, the form in which
// Pulumi keeps an encrypted value. What is no JSON is for others to refuse.
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
