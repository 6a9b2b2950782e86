// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import "strings"

// IsUnknownInPreview recognizes what @pulumi/policy reports of a policy that needs a value which is
// not known in a preview. That is no violation: the update checks the policy again.
func IsUnknownInPreview(message string) bool {
	return strings.HasPrefix(message, "can't run policy ") && strings.Contains(message, " during preview: ")
}
