// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"encoding/json"
	"slices"
	"strings"
)

// WireKey marks, as a key of an object, what is no object to the engine: an asset,
// whose file the engine opens, an archive, a secret or a reference, in the form in
// which Pulumi passes them between processes.
const WireKey = "4dabf18193072939515e22adb298388d"

// HoldsFile tells whether a config value is one that the engine would take for an
// asset or the like, and open a file for: whether it has, at any depth, the key that
// Pulumi marks those with. A text that is JSON is what that JSON says, as it is to a
// program in Pulumi YAML. The value is one of encoding/json.
func HoldsFile(value any) bool {
	switch value := value.(type) {
	case string:
		if strings.Contains(value, WireKey) {
			return true
		}
		// Only an escape can hide it, and an escape has a backslash.
		var inner any
		decoder := json.NewDecoder(strings.NewReader(value))
		decoder.UseNumber()
		return strings.Contains(value, `\`) && decoder.Decode(&inner) == nil && HoldsFile(inner)
	case json.RawMessage:
		return HoldsFile(string(value))
	case []any:
		return slices.ContainsFunc(value, HoldsFile)
	case map[string]any:
		for key, inner := range value {
			if strings.Contains(key, WireKey) || HoldsFile(inner) {
				return true
			}
		}
	}
	return false
}
