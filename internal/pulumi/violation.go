// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// withoutValues cuts the values out of the error of an update that violates its plan: it has
// secrets in plain text, planned ones and others. What differs is named first.
func withoutValues(message string) string {
	const violation = " violates plan: "
	at := strings.Index(message, violation)
	if at < 0 {
		return message
	}
	from := at + len(violation)
	value := strings.IndexByte(message[from:], '[')
	if value < 0 {
		return message
	}
	return message[:from+value] + bounded.Sign
}
