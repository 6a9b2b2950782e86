// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// sides are the properties of a resource in the state, and as the provider has found them.
type sides struct{ inputs, outputs, realInputs, realOutputs properties }

// sidesOf hides on each side what is secret on another: what has taken the place of a secret is
// most likely one too, and no mask knows it. Not every provider says so.
func sidesOf(event *stepEvent) *sides {
	old, now := stateOf(event.Metadata.Old), stateOf(event.Metadata.New)
	of := &sides{properties{raw: old.Inputs}, properties{raw: old.Outputs}, properties{raw: now.Inputs}, properties{raw: now.Outputs}}
	all := []*properties{&of.inputs, &of.outputs, &of.realInputs, &of.realOutputs}
	for name := range of.names() {
		var values []any
		for _, side := range all {
			value, _ := side.top(name)
			values = append(values, value)
		}
		for _, side := range all {
			value, ok := side.top(name)
			for _, other := range values {
				value = withSecretsOf(value, other)
			}
			if ok {
				side.read[name] = value
			}
		}
	}
	return of
}

func (s *sides) names() map[string]bool {
	names := map[string]bool{}
	for _, side := range []properties{s.inputs, s.outputs, s.realInputs, s.realOutputs} {
		for name := range side.raw {
			names[name] = true
		}
	}
	return names
}

// differing are the names that the provider gives, or all that differ if it only says that there
// is a difference.
func (s *sides) differing(given []string) []string {
	if len(given) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(given)))
	}
	differ := func(name string, a, b *properties) bool {
		before, had := a.top(name)
		after, has := b.top(name)
		return had != has || !reflect.DeepEqual(before, after)
	}
	var inputs, outputs []string
	for _, name := range slices.Sorted(maps.Keys(s.names())) {
		if differ(name, &s.inputs, &s.realInputs) {
			inputs = append(inputs, name)
		} else if differ(name, &s.outputs, &s.realOutputs) {
			outputs = append(outputs, name)
		}
	}
	if len(inputs) > 0 {
		return inputs
	}
	return outputs
}

// withSecretsOf hides in a value what is secret in another. The elements of a list may have moved.
func withSecretsOf(value, other any) any {
	if !isSecretIn(other) {
		return value
	}
	members, isMap := value.(map[string]any)
	others, otherIsMap := other.(map[string]any)
	if !isMap || !otherIsMap || isOpaque(value) || isOpaque(other) {
		return map[string]any{sig.Key: sig.Secret}
	}
	members = maps.Clone(members)
	for name := range members {
		members[name] = withSecretsOf(members[name], others[name])
	}
	return members
}

// isSecretIn reports whether a part of the value is secret.
func isSecretIn(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, mask.SecretText) // Pulumi has replaced a part of it
	case []any:
		return slices.ContainsFunc(value, isSecretIn)
	case map[string]any:
		if cut, ok := value[cutSign].(map[string]any); ok {
			return hasSecrets(cut)
		}
		if value[sig.Key] == sig.Secret {
			return true
		}
		for _, inner := range value {
			if isSecretIn(inner) {
				return true
			}
		}
	}
	return false
}
