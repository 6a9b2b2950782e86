// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// isRejected reports whether the plan with the digest was rejected.
func isRejected(stack *v1.Stack, digest string) bool {
	return digest != "" && stack.Annotations[v1.RejectAnnotation] == digest
}

// errRejected says how a rejection is taken back: by whoever sees the plan.
func errRejected(stack *v1.Stack, digest string) error {
	why := ""
	if reason := stack.Annotations[v1.RejectReasonAnnotation]; reason != "" {
		why = fmt.Sprintf(" (%s)", reason)
	}
	return fmt.Errorf("plan %s was rejected%s, and --ahead does not take that back: once the Stack proposes it, approve it with "+
		"flux pulumi approve stack %s -n %s", digest, why, stack.Name, stack.Namespace)
}
