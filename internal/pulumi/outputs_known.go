// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"maps"
)

// unknownValue is what Pulumi writes for a value that it does not know: an output
// that depends on a resource which was not among the targets, and was never made.
const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// knownOutputs leaves out those that are not known, also in part: a person would
// take what Pulumi writes for the value.
func knownOutputs(outputs map[string]json.RawMessage) map[string]json.RawMessage {
	maps.DeleteFunc(outputs, func(_ string, raw json.RawMessage) bool {
		return bytes.Contains(raw, []byte(unknownValue))
	})
	return outputs
}
