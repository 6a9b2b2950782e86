// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"bytes"
	"encoding/json"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

// Output returns a string without quotes, and anything else as JSON. A string with
// line breaks, or with characters that a terminal would interpret, is also JSON.
func Output(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && table.Visible(text) == text {
		return text
	}
	var line bytes.Buffer
	if json.Compact(&line, value) != nil {
		return string(value)
	}
	return line.String()
}
