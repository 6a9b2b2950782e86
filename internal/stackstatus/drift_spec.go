// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
)

// driftSpecDigest returns the digest of what in the spec decides which drift is to be corrected.
func driftSpecDigest(stack *v1.Stack) string {
	parts := struct {
		Ignore           []v1.IgnoredDrift `json:"ignore,omitempty"`
		Targets          []string          `json:"targets,omitempty"`
		TargetDependents bool              `json:"targetDependents,omitempty"`
	}{Targets: stack.Spec.Targets, TargetDependents: stack.Spec.TargetDependents}
	if stack.Spec.Drift != nil {
		parts.Ignore = stack.Spec.Drift.Ignore
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return "" // not of strings
	}
	return inventory.Digest(text)
}

// checkedSpecDigest returns the digest for what a check has found, "" if the Stack was edited in
// the meantime: what the check went by may be another spec.
func checkedSpecDigest(stack *v1.Stack, record *v1.RunStatus) string {
	if record.Generation != stack.Generation {
		return ""
	}
	return driftSpecDigest(stack)
}
