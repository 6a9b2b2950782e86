// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
)

// knownOutputs drops outputs that are unknown, even in part, because they depend on a resource
// that was not among the targets and was never created: a person would take Pulumi's placeholder
// for the value.
func knownOutputs(outputs map[string]json.RawMessage) map[string]json.RawMessage {
	maps.DeleteFunc(outputs, func(_ string, raw json.RawMessage) bool {
		return bytes.Contains(raw, []byte(plugin.UnknownStringValue))
	})
	return outputs
}
