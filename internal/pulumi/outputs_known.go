// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"maps"
)

// unknownValue is Pulumi's placeholder for an unknown value: an output that depends on
// a resource that was not among the targets and was never created.
const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// knownOutputs drops outputs that are unknown, even in part: a person would take the
// placeholder for the value.
func knownOutputs(outputs map[string]json.RawMessage) map[string]json.RawMessage {
	maps.DeleteFunc(outputs, func(_ string, raw json.RawMessage) bool {
		return bytes.Contains(raw, []byte(unknownValue))
	})
	return outputs
}
