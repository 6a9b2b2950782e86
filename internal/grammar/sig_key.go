// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package grammar

import (
	"encoding/json"
	"slices"
	"strings"
)

// SigKey is an object key that marks, in the form in which Pulumi passes values between
// processes, something that is not a plain object: an asset, whose file the engine opens,
// an archive, a secret or a reference.
const SigKey = "4dabf18193072939515e22adb298388d"

// HoldsFile reports whether the engine would take a config value for an asset or the like
// and open a file for it: whether it contains SigKey at any depth. A text that is valid
// JSON counts as that JSON, as it does for a Pulumi YAML program. The value is one of
// encoding/json.
func HoldsFile(value any) bool {
	switch value := value.(type) {
	case string:
		if strings.Contains(value, SigKey) {
			return true
		}
		// Only an escape, which has a backslash, can hide the key.
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
			if strings.Contains(key, SigKey) || HoldsFile(inner) {
				return true
			}
		}
	}
	return false
}
